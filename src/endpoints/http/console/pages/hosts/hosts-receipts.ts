/** The last files of a company that were decided about, each with why and what to do. */
import { isoTime } from "../../../../../lib/iso-time.ts";
import { type Fault, reasonCodeOf } from "../../../../../lib/errors.ts";
import { remedyOf } from "../../../../../inbound/explain/file-words.ts";
import type { ConsoleRequest } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { companiesFor, type ConsoleCompany } from "../../console-user.ts";
import { badge, type BadgeKind } from "../../kit/badge.ts";
import { hiddenField, selectField } from "../../kit/fields.ts";
import { filterForm } from "../../kit/forms.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { addresses, link } from "../../kit/link.ts";
import { notice } from "../../kit/notice.ts";
import { pager } from "../../kit/pager.ts";
import { section } from "../../kit/section.ts";
import { prose, shortened, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import type { HostFound, HostReceipt } from "./hosts-view.ts";

const text = words.hosts;

const kinds: Readonly<Record<HostReceipt["state"], BadgeKind>> = {
  ...{ applied: "ok", refused: "bad", duplicate: "off", superseded: "wait" },
};

/** Of many faults these are shown; the receipt has all of them. */
const mostFaults = 3;

function whyText(faults: readonly Fault[]): Content {
  return faults.slice(0, mostFaults).map((fault) => {
    const told = remedyOf(fault.code);
    return html`<p>${reasonCodeOf(fault.code)}: ${shown(fault.message)}${
      told === undefined ? "" : html` <strong>${words.kit.remedy}</strong> ${told}`
    }</p>`;
  });
}

function ownOrAll(
  action: string,
  company: ConsoleCompany,
  shownNow: { ofAll: boolean; userName: string },
): Html {
  const whose = selectField({
    ...{ name: "of", id: "receipts-of", label: text.receiptsOf, value: shownNow.ofAll ? "company" : "user" },
    options: [
      ["user", text.ofUser(shownNow.userName)],
      ["company", text.ofCompany],
    ],
  });
  return filterForm({
    action,
    fields: html`${hiddenField("company", company.code)}${whose}`,
    isFiltered: false,
  });
}

interface Receipts {
  readonly company: ConsoleCompany;
  readonly found: HostFound;
  /** Not only those of the viewer. */
  readonly ofAll: boolean;
}

export function receiptsSection(
  services: ConsoleServices,
  request: ConsoleRequest,
  { company, found, ofAll }: Receipts,
): Html {
  const to = addresses(services);
  const { user } = request;
  // Only who may look at the company has a page for each file.
  const maySeeFile = companiesFor(user, "look").some(({ id }) => id === company.id);
  const rows = found.receipts.map(({ reference, name, state, receivedAt, faults }) => [
    maySeeFile ? link(to.file(reference), shortened(name)) : shortened(name),
    badge(kinds[state], text.fileStates[state]),
    timeText(receivedAt),
    whyText(faults),
  ]);
  const head = [text.fileName, text.state, text.received, text.why];
  const shownRows = table(head, rows, {
    ...{ caption: text.receiptsCaption, empty: ofAll ? text.noCompanyReceipts : text.noReceipts },
  });
  const of = ofAll ? "company" : undefined;
  const pageOf = (before?: string) => `${to.at("/hosts", { company: company.code, of, before })}#receipts`;
  const pages = pager({
    first: request.query.has("before") ? pageOf() : undefined,
    next: found.before === undefined ? undefined : pageOf(found.before),
  });
  const searched =
    found.searchedTo === undefined
      ? ""
      : notice("wait", html`<p>${prose(text.searchedTo(isoTime(found.searchedTo)))}</p>`);
  const choice = ownOrAll(to.at("/hosts"), company, { ofAll, userName: user.userName });
  return section(text.receipts, html`${choice}${searched}${shownRows}${pages}`, { id: "receipts" });
}
