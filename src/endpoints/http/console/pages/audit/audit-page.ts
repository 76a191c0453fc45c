/** Page 12: who did what and why, who looked at content, and what a reload has changed. */
import { given } from "../../../../../lib/given.ts";
import { isoTime } from "../../../../../lib/iso-time.ts";
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { csvAnswer, csvRows } from "../../kit/csv.ts";
import { selectField, textField } from "../../kit/fields.ts";
import { filterForm } from "../../kit/forms.ts";
import { type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { page, seeOther } from "../../kit/page.ts";
import { pager } from "../../kit/pager.ts";
import { section } from "../../kit/section.ts";
import { words } from "../../words/words.ts";
import { readDay, spanOf } from "../filter-fields.ts";
import { administered } from "../users/user-parts.ts";
import { auditKinds, auditTable, kindText } from "./audit-table.ts";
import type { AuditAsked, ShownAudit } from "./audit-view.ts";

const said = words.audit;
const pageSize = 50;
const longest = 600;

const fieldNames = ["user", "kind", "subject", "day"] as const;
type Texts = Partial<Readonly<Record<(typeof fieldNames)[number], string>>>;

/** What stands in the address; empty fields are left out. */
function textsOf({ query }: ConsoleRequest): Texts {
  const texts = fieldNames.map((name) => [name, query.get(name)?.trim().slice(0, longest) || undefined]);
  return given(Object.fromEntries(texts) as Texts);
}

/** Of a day that is none; undefined without a fault. */
function faultOf({ day }: Texts): string | undefined {
  return day !== undefined && readDay(day) === undefined ? words.files.faults.day : undefined;
}

function askedOf({ user, kind, subject, day = "" }: Texts): Omit<AuditAsked, "limit"> {
  const kinds = kind === undefined ? undefined : [kind];
  return { ...given({ userName: user, kinds, subject }), ...spanOf({ from: day, to: day }) };
}

function beforeIn({ query }: ConsoleRequest): number | undefined {
  const before = Number(query.get("before") ?? Number.NaN);
  return Number.isSafeInteger(before) && before > 0 ? before : undefined;
}

function filterOf(texts: Texts, to: Addresses): Html {
  const { user, kind, subject, day } = texts;
  const kinds = auditKinds
    .map((one) => [one, kindText(one)] as const)
    .toSorted(([, one], [, other]) => (one < other ? -1 : 1));
  const fields = html`${textField({
    ...{ name: "user", label: said.filter.user, value: user, maxLength: longest },
  })}${selectField({
    ...{ name: "kind", label: said.filter.kind, value: kind },
    options: [["", said.filter.allKinds], ...kinds],
  })}${textField({
    ...{ name: "subject", label: said.filter.subject, value: subject, maxLength: longest },
  })}${textField({ name: "day", type: "date", label: said.filter.day, value: day, error: faultOf(texts) })}`;
  return filterForm({ action: to.at("/audit"), fields, isFiltered: Object.keys(texts).length > 0 });
}

async function listSection(services: ConsoleServices, request: ConsoleRequest, texts: Texts): Promise<Html> {
  const to = addresses(services);
  const beforeId = beforeIn(request);
  const asked = { ...askedOf(texts), ...given({ beforeId }), limit: pageSize };
  const { entries, nextBefore } = await services.ask("audit", administered(request.user), asked);
  const pages = pager({
    first: beforeId === undefined ? undefined : to.at("/audit", texts),
    next: nextBefore === undefined ? undefined : to.at("/audit", { ...texts, before: nextBefore }),
  });
  const tools = link(to.at("/audit.csv", texts), said.csv);
  const list = html`<p>${said.explained}</p>${auditTable(entries, to, said.none)}${pages}`;
  return section(said.title, list, { tools });
}

/** A filter with a fault asks for nothing: a list of everything would look as if it fitted. */
async function showAudit(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const texts = textsOf(request);
  const isFaulty = faultOf(texts) !== undefined;
  const list = isFaulty ? "" : await listSection(services, request, texts);
  return page(services, request, {
    ...{ title: said.title, here: "audit", status: isFaulty ? 400 : 200 },
    content: html`${filterOf(texts, addresses(services))}${list}`,
  });
}

/** Names of columns are for programs: they stay as they are in every language. */
const csvHead = ["at", "user", "address", "company", "kind", "subject", "reason", "before", "after"];

function jsonOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function csvRow(entry: ShownAudit) {
  const { at, userName, address, companyCode = null, kind, subject, reason, before, after } = entry;
  return [isoTime(at), userName, address, companyCode, kind, subject, reason, jsonOf(before), jsonOf(after)];
}

async function downloadAudit(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const texts = textsOf(request);
  if (faultOf(texts) !== undefined) return seeOther(addresses(services).at("/audit", texts));
  const asked = askedOf(texts);
  const rows = csvRows<number>(async (beforeId, limit) => {
    const page = { ...asked, ...given({ beforeId }), limit };
    const found = await services.ask("audit", administered(request.user), page);
    return { rows: found.entries.map(csvRow), next: found.nextBefore };
  });
  return csvAnswer("audit.csv", csvHead, rows);
}

export const auditRoute: ConsoleRoute = {
  access: "console",
  name: "consoleAudit",
  method: "GET",
  path: "/console/audit",
  who: "administer",
  run: showAudit,
};

export const auditCsvRoute: ConsoleRoute = {
  access: "console",
  name: "consoleAuditCsv",
  method: "GET",
  path: "/console/audit.csv",
  who: "administer",
  run: downloadAudit,
};
