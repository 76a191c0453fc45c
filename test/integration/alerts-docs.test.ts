/** docs/alerts.md names what there is. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { alertKind, alertKindNames } from "../../src/domain/alerts/alert-kinds.ts";
import type { IncidentNews } from "../../src/domain/alerts/incident.ts";
import { type NamedIncident, writeNotice } from "../../src/domain/alerts/notice.ts";
import { blocksIn, projectFolder, textOf } from "../support/markdown.ts";

const name = "docs/alerts.md";
const of = { company: "a company", operator: "the installation", both: "either" };
const rows = alertKindNames
  .map((kind) => `| \`${kind}\` | ${of[alertKind(kind).scope]} | ${alertKind(kind).description} |`)
  .join("\n");
const table = /(\| Kind \| Of \| It opens when \|\n\|---\|---\|---\|\n)[\s\S]*?(?=\n\n)/;

test("the list of kinds is that of the program", () => {
  if (process.env["UPDATE_DOCS"] !== undefined) {
    const text = textOf(name).replace(table, (_, head: string) => `${head}${rows}`);
    writeFileSync(join(projectFolder, name), text);
  }
  expect(readFileSync(join(projectFolder, name), "utf8")).toContain(`\n${rows}\n\n`);
});

test("the JSON has the members that are sent, and each kind of news is named", () => {
  const incident: NamedIncident = {
    ...{ id: 1, companyId: 1, company: "ACME", kind: "refusedFiles", cause: "", summary: "s" },
    ...{ openedAt: 0, seenAt: 0, closedAt: null, reopened: 0, count: 1, level: 1, samples: [], remedy: "" },
  };
  const context = { now: 0, zone: "UTC", installation: "here", machine: "here", reader: null };
  const { body } = writeNotice([{ news: "opened", incident }], context);
  const sent = JSON.parse(body) as { readonly alerts: readonly object[] };
  const block = blocksIn(name).find(({ language }) => language === "json");
  const shown = JSON.parse(block?.text ?? "") as typeof sent;
  expect(Object.keys(shown)).toEqual(Object.keys(sent));
  expect(Object.keys(shown.alerts[0] ?? {})).toEqual(Object.keys(sent.alerts[0] ?? {}));
  const news: Readonly<Record<IncidentNews, true>> = {
    ...{ opened: true, reminder: true, worse: true, reopened: true, closed: true, passed: true },
  };
  const text = textOf(name);
  expect(
    Object.keys(news).filter((one) => !text.includes(`\`${one}\``) && !text.includes(`"${one}"`)),
  ).toEqual([]);
});
