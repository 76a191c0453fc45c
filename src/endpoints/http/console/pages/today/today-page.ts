/** Page 1: how the companies of the viewer stand at this moment, and what needs a look. */
import { charts } from "../../assets/assets.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices, Scope } from "../../console-services.ts";
import { companiesFor } from "../../console-user.ts";
import { sizeText } from "../../kit/amounts.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { nothing } from "../../kit/notice.ts";
import { page } from "../../kit/page.ts";
import { facts, section } from "../../kit/section.ts";
import { capitalised, prose, shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import type { OpenIncident, SiteStanding } from "../../live/standing.ts";
import { words } from "../../words/words.ts";
import { fullText } from "../health/growth-section.ts";
import { pageOfIncident } from "./incident-list.ts";
import { type OwnStanding, ownStanding, verdictOf } from "./own-standing.ts";
import { ratesSection } from "./rates-section.ts";
import { companyHead, companyRow, refusalGroupRow, refusalRow } from "./today-rows.ts";
import { type RateSpan, type RefusalsFound, rateSpans } from "./today-view.ts";

const today = words.today;
/** As many stay in the list while new ones come in. */
const shownRefusals = 20;

/** The frame of a table whose rows carry ids: those of the live events take their places. */
function rowsTable(
  caption: string,
  head: readonly (string | { text: string })[],
  rows: readonly Html[],
  id: string,
) {
  const headings = head.map((column) =>
    typeof column === "string"
      ? html`<th scope="col">${column}</th>`
      : html`<th scope="col" class="number">${column.text}</th>`,
  );
  return html`<div class="table" role="group" aria-label="${caption}" tabindex="0"><table><caption class="unseen">${caption}</caption><thead><tr>${headings}</tr></thead><tbody id="${id}">${rows}</tbody></table></div>`;
}

function companiesSection({ companies }: OwnStanding, to: Addresses): Html {
  if (companies.length === 0) return section(today.companies, nothing(today.noCompanies));
  const rows = companies.map((company) => companyRow(company, to));
  return section(
    today.companies,
    html`${rowsTable(today.companies, companyHead, rows, "companies")}<p><small>${today.daysAreUtc}</small></p>`,
    {
      tools: html`${link(to.at("/waiting"), words.waiting.title)} ${link(to.at("/late"), today.lateArrivals.title)}`,
    },
  );
}

function incidentsSection({ companies, site }: OwnStanding, to: Addresses): Html {
  const isOperator = site !== undefined;
  const remedyOf = ({ remedy, companyRemedy }: OpenIncident) =>
    isOperator ? remedy : (companyRemedy ?? remedy);
  const goOn = (kind: OpenIncident["kind"], company: string | undefined) => {
    const address = pageOfIncident(kind, { to, company, isOperator });
    return address === undefined ? "" : html`<br>${link(address, today.toIncident)}`;
  };
  const rowOf = (company: string | undefined) => (incident: OpenIncident) => [
    html`<strong>${capitalised(incident.title)}</strong><br><span class="plain-weight">${prose(capitalised(incident.summary))}</span>`,
    company === undefined ? today.machine : shortened(company, 40),
    timeText(incident.openedAt),
    html`${prose(capitalised(remedyOf(incident)))}${goOn(incident.kind, company)}`,
  ];
  const rows = [
    ...(site?.incidents ?? []).map(rowOf(undefined)),
    ...companies.flatMap(({ companyCode, incidents }) => incidents.map(rowOf(companyCode))),
  ];
  const empty = companies.some(({ isWatched }) => isWatched) ? today.noIncidents : prose(today.notLookedFor);
  const { what, company, since, whatToDo } = today.incidentHead;
  const options = { caption: today.openIncidents, isCaptionHidden: true, empty };
  return section(today.openIncidents, table([what, company, since, whatToDo], rows, options), {
    id: "incidents",
  });
}

/** When each disk is full, as far as that has been measured. */
function fillingText(filling: SiteStanding["filling"], to: Addresses): Content {
  if (filling === undefined) return today.fillsUnmeasured;
  if (filling.length === 0) return link(`${to.at("/health")}#growth`, today.fillsUnknown);
  const parts = filling.map(
    (one) =>
      html`<li>${link(`${to.at("/health")}#growth`, fullText(one, one.at))} ${shortened(one.folder, 80)}</li>`,
  );
  return html`<ul>${parts}</ul>`;
}

function machineSection({ disk, filling, certificates }: SiteStanding, to: Addresses): Html {
  const room =
    disk === undefined
      ? today.diskUnknown
      : html`${sizeText(disk.freeBytes)} <small>(${today.diskKeeps(sizeText(disk.minFreeBytes))})</small>`;
  const valid = certificates.map(
    ({ endpoint, expiresAt }) => [today.certificate(endpoint.toUpperCase()), timeText(expiresAt)] as const,
  );
  const shown = valid.length > 0 ? valid : [[today.certificates, today.noCertificate] as const];
  return section(
    today.machine,
    facts([[today.disk, room], [today.diskFull, fillingText(filling, to)], ...shown]),
    {
      id: "machine",
      tools: link(to.at("/health"), today.toHealth),
    },
  );
}

/** Single ones and groups in one order, the newest first. */
function refusalRows(
  { refusals, groups }: RefusalsFound,
  { to, actIds }: { readonly to: Addresses; readonly actIds: ReadonlySet<number> },
): readonly Html[] {
  const lines = [
    ...refusals.map((refusal) => ({ at: refusal.at, row: refusalRow(refusal, to) })),
    ...groups.map((group) => ({
      at: group.lastAt,
      row: refusalGroupRow(group, { to, mayAct: actIds.has(group.companyId) }),
    })),
  ];
  return lines.toSorted((one, other) => other.at - one.at).map(({ row }) => row);
}

function refusalsSection(rows: readonly Html[], to: Addresses): Html {
  const { time, company, file, reason } = today.refusalHead;
  const list = rowsTable(today.refusals, [file, company, time, reason], rows, "refusals");
  const none = html`<p class="nothing" id="no-refusals"${rows.length === 0 ? "" : html` hidden`}>${today.noRefusals}</p>`;
  const tools = link(to.at("/files", { state: "refused" }), today.allRefusals);
  const state = html`<span id="live-state" role="status"></span>`;
  return section(today.refusals, html`${none}${list}`, { tools: html`${state} ${tools}` });
}

function spanIn(request: ConsoleRequest): RateSpan {
  const asked = request.query.get("span");
  return rateSpans.find((span) => span === asked) ?? "4h";
}

/** The place that the script of live pages looks for, with all that it needs to know. */
function liveFrame(content: Html, addressesOf: { readonly events: string; readonly part: string }): Html {
  const { on, polling, off } = today.live;
  return html`<div id="today" class="stack" data-live="${addressesOf.events}" data-keep="${shownRefusals}" data-on="${on}" data-polling="${polling}" data-off="${off}" hx-get="${addressesOf.part}" hx-trigger="poll" hx-target="this" hx-swap="morph:outerHTML" hx-ext="morph">${content}</div>`;
}

/** Page 1. */
export async function showToday(services: ConsoleServices, request: ConsoleRequest) {
  const { user } = request;
  const to = addresses(services);
  const companies = companiesFor(user, "look").map(({ id, code }) => ({ id, code }));
  const scope: Scope = { companies, isOperator: user.isOperator };
  const span = spanIn(request);
  // Before anything is asked: what is refused meanwhile is told live, and perhaps twice, but never not at all.
  const companyIds = new Set(companies.map(({ id }) => id));
  const after = services.live.newestOf(companyIds);
  const actIds = new Set(companiesFor(user, "act").map(({ id }) => id));
  const [standing, rates, refused] = await Promise.all([
    services.live.standing(),
    services.ask("fileRates", scope, { span }),
    services.ask("recentRefusals", scope, { limit: shownRefusals }),
  ]);
  const own = ownStanding(standing, { companyIds, isOperator: user.isOperator });
  const content = html`${verdictOf(own, to)}${companiesSection(own, to)}${incidentsSection(own, to)}${
    own.site === undefined ? "" : machineSection(own.site, to)
  }${refusalsSection(refusalRows(refused, { to, actIds }), to)}${ratesSection(rates, span, to)}`;
  const part = to.at("/live/page", { span: span === "4h" ? undefined : span });
  return page(services, request, {
    ...{
      title: today.title,
      here: "today",
      scripts: ["htmx.min.js", "idiomorph-ext.min.js", "live.js", ...charts, "charts.js"],
    },
    content: liveFrame(content, { events: to.at("/live", { after }), part }),
  });
}

export const todayRoute: ConsoleRoute = {
  access: "console",
  name: "consoleToday",
  method: "GET",
  path: "/console",
  who: "look",
  run: showToday,
};
