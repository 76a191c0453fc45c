/** `docs/completion-file.md` and its sample say what is written. */
import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sampleCompanyCode, sampleCompletion } from "../../../test/fixtures/sample-completion.ts";
import { blocksIn, projectFolder, spansIn, textOf } from "../../../test/support/markdown.ts";
import { completionFileName } from "../../domain/outbound/completion-name.ts";
import { exportNames } from "../../outbound/export-runs.ts";
import { exportElement, filesElement } from "./export-elements.ts";
import { renderExportManifest } from "./export-manifest.ts";
import type { OutgoingElement } from "./outgoing-style.ts";
import { completionElements } from "./stop-completion-elements.ts";
import { renderStopCompletion } from "./stop-completion-writer.ts";
import { stopElements } from "../elements/stop-elements.ts";

const name = completionFileName(sampleCompletion.stop.stopNbr, "2026-11-05T09:17:42");
const file = join("config/samples/outbound", name);
const page = "docs/completion-file.md";
const samples = blocksIn(page).filter(({ language }) => language === "xml");

async function render(): Promise<string> {
  return await renderStopCompletion(sampleCompletion, { companyCode: sampleCompanyCode });
}

test("the sample in config/samples/outbound is what is written (rewrite it with UPDATE_SAMPLES=1)", async () => {
  const text = await render();
  if (process.env["UPDATE_SAMPLES"] === "1") writeFileSync(join(projectFolder, file), text);
  expect(readFileSync(join(projectFolder, file), "utf8")).toBe(text);
});

test("the page shows the sample as it is written, under its name", async () => {
  expect(samples.map(({ text }) => text)).toContain(await render());
  expect(textOf(page)).toContain(name);
});

test("the page shows the manifest of an export of the sample as it is written", async () => {
  const bytes = Buffer.from(await render());
  const manifest = renderExportManifest({
    companyCode: sampleCompanyCode,
    name: "nightly",
    sequenceNbr: 42,
    window: {
      ...{ begin: 1_180, end: 1_181 },
      dueAt: Date.parse("2026-11-06T08:30:00Z"),
      createdAt: Date.parse("2026-11-06T08:30:01Z"),
    },
    count: 1,
    files: [
      {
        name,
        sha256: hash("sha256", bytes, "hex"),
        bytes: bytes.length,
        stopNbr: sampleCompletion.stop.stopNbr,
      },
    ],
  });
  expect(samples.map(({ text }) => text)).toContain(manifest);
});

test.each(["document", "files"] as const)(
  "the page names an export of the form %s as it is called",
  (form) => {
    const createdAt = Date.parse("2026-11-06T08:30:01Z");
    const made = {
      id: 1,
      companyId: 1,
      afterCompletionId: 0,
      lastCompletionId: 1,
      windowBegin: 0,
      windowEnd: 1,
      dueAt: null,
      createdAt,
      form,
    };
    const names = exportNames({ ...made, companyCode: sampleCompanyCode, name: "nightly", sequenceNbr: 42 });
    const spans = spansIn(page);
    expect(Object.values(names).filter((one) => !spans.includes(one))).toEqual([]);
  },
);

function namesOf(element: OutgoingElement): string[] {
  if (element.shape === "value") return [element.name];
  if (element.shape === "object") return [element.name, ...element.children.flatMap(namesOf)];
  return [element.name, element.item.name, ...element.item.children.flatMap(namesOf)];
}

test("the page explains every element that the inbound Stop has not", () => {
  const inbound = new Set(stopElements.flatMap((element) => namesOf(element)));
  const own = [...completionElements, exportElement, filesElement].flatMap(namesOf);
  const explained = spansIn(page).flatMap((span) => span.split(/[^A-Za-z0-9]+/));
  expect(own.length).toBeGreaterThan(100);
  expect(own.filter((one) => !inbound.has(one) && !explained.includes(one))).toEqual([]);
});
