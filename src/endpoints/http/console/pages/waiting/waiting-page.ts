/** What has waited longest, of files and of deliveries, with its age, why it waits, and what to do. */
import { given } from "../../../../../lib/given.ts";
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { companiesFor, type ConsoleUser } from "../../console-user.ts";
import { selectField } from "../../kit/fields.ts";
import { filterForm } from "../../kit/forms.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { remedy, whoseMove } from "../../kit/notice.ts";
import { page } from "../../kit/page.ts";
import { pager } from "../../kit/pager.ts";
import { section } from "../../kit/section.ts";
import { prose, shortened } from "../../kit/shown-text.ts";
import { type Row, table } from "../../kit/table.ts";
import { durationText, timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { subjectOf, whyOf } from "../deliveries/delivery-parts.ts";
import { holdNotice } from "../deliveries/release-act.ts";
import { lookScope } from "../look-scope.ts";
import type { WaitingDelivery, WaitingFile, WaitingFound } from "./waiting-view.ts";

const said = words.waiting;
const rowsOfPage = 50;

interface Shown {
  readonly user: ConsoleUser;
  readonly to: Addresses;
  readonly found: WaitingFound;
  /** The code that was asked for; empty for all. */
  readonly company: string;
  /** Where either list begins, as the address has it. */
  readonly files: string | undefined;
  readonly deliveries: string | undefined;
}

const ageText = (since: number, at: number): string => durationText(Math.max(0, at - since));

function companyName(company: string, user: ConsoleUser): Content {
  return companiesFor(user, "look").length > 1 && html` <span class="company">${company}</span>`;
}

function fileRow(file: WaitingFile, { user, to, found }: Shown): Row {
  const { reference, company, name, stopNbr, receivedAt, why } = file;
  const stop =
    stopNbr !== null && html` ${link(to.stop(company, stopNbr), shortened(words.files.stop(stopNbr), 40))}`;
  const reasons = why.length === 0 ? [said.next] : why;
  return [
    html`${link(to.file(reference), shortened(name, 80))}${stop}${companyName(company, user)}`,
    ageText(receivedAt, found.at),
    timeText(receivedAt),
    reasons.map((text) => html`<p class="foreign">${prose(text)}</p>`),
  ];
}

/** That of its target comes first: as long as it is paused or rests, nothing else counts. */
function whyDelivery(delivery: WaitingDelivery): Content {
  const { pausedBy, pausedAt, restsUntil, remedy: todo, move } = delivery;
  if (pausedBy !== null)
    return [
      html`<p>${said.pausedBy(pausedBy)} ${timeText(pausedAt)}.</p>`,
      remedy(words.deliveries.targets.resumeRemedy),
    ];
  return [
    whyOf(delivery, { restsUntil, pause: undefined }),
    move === undefined ? undefined : whoseMove(move),
    todo === null ? undefined : remedy(todo),
  ];
}

function deliveryRow(delivery: WaitingDelivery, { user, to, found }: Shown): Row {
  const { guid, name, company, target, createdAt } = delivery;
  return [
    html`${link(to.delivery(guid), shortened(name, 80))} ${subjectOf(delivery, to)}${companyName(company, user)}`,
    ageText(createdAt, found.at),
    timeText(createdAt),
    link(to.at("/deliveries", { company, target }), shortened(target, 40)),
    whyDelivery(delivery),
  ];
}

/** Either list goes on by itself, and the other one stays where it is. */
function pagesOf(shown: Shown, list: "files" | "deliveries", next: string | null): Html {
  const { to, company, files, deliveries } = shown;
  const at = (place: string | undefined) =>
    `${to.at("/waiting", { company, ...given({ files, deliveries }), [list]: place })}#${list}`;
  return pager({
    first: shown[list] === undefined ? undefined : at(undefined),
    next: next === null ? undefined : at(next),
  });
}

function filesSection(shown: Shown): Html {
  const { to, company, found } = shown;
  const { file, age, since, why } = said.head;
  const empty = shown.files === undefined ? said.noFiles : said.further;
  const rows = found.files.map((one) => fileRow(one, shown));
  const list = table([file, age, since, why], rows, { caption: said.files, empty, isCaptionHidden: true });
  const tools = link(to.at("/files", { company, state: "waiting" }), said.asFiles);
  return section(said.files, [list, pagesOf(shown, "files", found.nextFiles)], { id: "files", tools });
}

function deliveriesSection(shown: Shown): Html {
  const { to, company, found, user } = shown;
  const { delivery, age, since, to: target, why } = said.head;
  const empty = shown.deliveries === undefined ? said.noDeliveries : said.further;
  const rows = found.deliveries.map((one) => deliveryRow(one, shown));
  const options = { caption: said.deliveries, empty, isCaptionHidden: true };
  const list = table([delivery, age, since, target, why], rows, options);
  const hold = found.hold === undefined ? undefined : holdNotice(found.hold, user, to);
  const pages = pagesOf(shown, "deliveries", found.nextDeliveries);
  const tools = link(to.at("/deliveries", { company, state: "waiting" }), said.asDeliveries);
  return section(said.deliveries, [hold, list, pages], { id: "deliveries", tools });
}

function companyFilter({ user, to, company }: Shown): Content {
  const codes = companiesFor(user, "look").map(({ code }) => [code, code] as const);
  if (codes.length < 2) return undefined;
  const options = [["", said.all] as const, ...codes];
  const fields = selectField({ name: "company", label: said.company, value: company, options });
  return filterForm({ action: to.at("/waiting"), fields, isFiltered: company !== "" });
}

async function showWaiting(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { user, query } = request;
  const to = addresses(services);
  const company = query.get("company") ?? "";
  const [files, deliveries] = [query.get("files") ?? undefined, query.get("deliveries") ?? undefined];
  const found = await services.ask("waiting", lookScope(user), {
    limit: rowsOfPage,
    ...given({
      company: company === "" ? undefined : company,
      filesAfter: files,
      deliveriesAfter: deliveries,
    }),
  });
  const shown = { user, to, found, company, files, deliveries };
  return page(services, request, {
    ...{ title: said.title, here: "today", trail: [{ text: words.today.title, href: to.at("") }] },
    content: [
      html`<p>${said.explained}</p>`,
      companyFilter(shown),
      filesSection(shown),
      deliveriesSection(shown),
    ],
  });
}

export const waitingRoute: ConsoleRoute = {
  access: "console",
  name: "consoleWaiting",
  method: "GET",
  path: "/console/waiting",
  who: "look",
  run: showWaiting,
};
