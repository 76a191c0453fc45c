/** Page 2, find: one box for whatever people have. What can only mean one thing opens at once. */
import { given } from "../../../../../lib/given.ts";
import { isoTime } from "../../../../../lib/iso-time.ts";
import type { Answer } from "../../../server/answer.ts";
import type { FoundRequest } from "../../console-acts.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { companiesFor, scopeFor } from "../../console-user.ts";
import { submitButton, textField } from "../../kit/fields.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { notice, remedy } from "../../kit/notice.ts";
import { page, seeOther } from "../../kit/page.ts";
import { pager } from "../../kit/pager.ts";
import { facts, section } from "../../kit/section.ts";
import { code, command, prose, shortened, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { durationText, timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { stateBadge, whyOf } from "../files/files-page.ts";
import { deliveryBadge } from "../state-badges.ts";
import { type Group, nameGroups, placeAddress, userAddress } from "./found-names.ts";
import type { FindFound, FoundDelivery, FoundOrder, FoundStop, Meant } from "./find-view.ts";

/** Longest text that is looked for, in characters. */
const longestText = 300;

/** Of a line that says where something could be. */
const longestLine = 600;

const { columns } = words.find;

/** The address of the thing that was meant. */
function addressOf(to: Addresses, meant: Meant): string {
  switch (meant.kind) {
    case "file":
      return to.file(meant.reference);
    case "stop":
      return to.stop(meant.company, meant.number);
    case "load":
      return to.load(meant.company, meant.number);
    case "delivery":
      return to.delivery(meant.guid);
    case "user":
      return userAddress(to, meant.userId);
    case "place":
      return placeAddress(to, meant.place);
    case "day":
      return to.at("/files", { from: meant.day, to: meant.day });
  }
}

function box(to: Addresses, text: string): Html {
  const { label, hint } = words.find;
  const field = textField({
    ...{ name: "q", id: "find-text", label, hint, value: text, type: "search", maxLength: longestText },
    autocomplete: "off",
  });
  return html`<form class="filter" method="get" action="${to.at("/find")}" role="search" aria-label="${label}">${field}<div class="field buttons">${submitButton(words.frame.find)}</div></form>`;
}

function groupOf({ title, head, rows }: Group): Content {
  if (rows.length === 0) return "";
  return section(title, table(head, rows, { caption: title, empty: "", isCaptionHidden: true }));
}

function stopMeaning({ isReceived, loadNbr, by, company }: FoundStop, to: Addresses): Content {
  const { received, notReceived, onLoad, byNumber } = words.find;
  return [
    isReceived ? received : notReceived,
    loadNbr !== null && [", ", link(to.load(company, loadNbr), onLoad(loadNbr))],
    by !== "number" && `; ${byNumber(by)}`,
  ];
}

function orderMeaning({ isCancelled, stopStatus, company, orderNbr }: FoundOrder, to: Addresses): Content {
  if (isCancelled) return words.find.cancelled;
  return stopStatus === null ? words.find.noStop : link(to.stop(company, orderNbr), stopStatus);
}

function deliveryMeaning({ faultText, remedy: todo }: FoundDelivery): Content {
  return [faultText !== null && html`<p>${shortened(faultText, 200)}</p>`, todo !== null && remedy(todo)];
}

function groups(found: FindFound, to: Addresses): readonly Group[] {
  const { files, stops, loads, orders, deliveries, documents } = words.find;
  const { name, number, company, state, received, changed, made, meaning, target } = columns;
  return [
    {
      title: stops,
      head: [number, company, state, meaning, changed],
      rows: found.stops.map((stop) => [
        link(to.stop(stop.company, stop.stopNbr), shortened(stop.stopNbr)),
        ...[stop.company, stop.status, stopMeaning(stop, to), timeText(stop.updatedAt)],
      ]),
    },
    {
      title: loads,
      head: [number, company, state, meaning, changed],
      rows: found.loads.map((load) => [
        link(to.load(load.company, load.loadNbr), shortened(load.loadNbr)),
        ...[load.company, load.status, load.by === "number" ? "" : words.find.byNumber(load.by)],
        timeText(load.updatedAt),
      ]),
    },
    {
      title: orders,
      head: [number, company, meaning, changed],
      rows: found.orders.map((order) => [
        ...[shortened(order.orderNbr), order.company, orderMeaning(order, to), timeText(order.updatedAt)],
      ]),
    },
    {
      title: files,
      head: [name, company, state, received, meaning],
      rows: found.files.map((file) => [
        link(to.file(file.reference), shortened(file.name)),
        ...[file.company, stateBadge(file.state), timeText(file.receivedAt), whyOf(file)],
      ]),
    },
    {
      title: deliveries,
      head: [name, company, target, state, meaning, made],
      rows: found.deliveries.map((delivery) => [
        link(to.delivery(delivery.guid), shortened(delivery.name)),
        ...[delivery.company, shortened(delivery.target, 40)],
        deliveryBadge(delivery.state),
        ...[deliveryMeaning(delivery), timeText(delivery.createdAt)],
      ]),
    },
    {
      title: documents,
      head: [name, company, "SHA-256", received],
      rows: found.documents.map((document) => [
        ...[shortened(document.name ?? document.guid), document.company, code(document.sha256)],
        timeText(document.createdAt),
      ]),
    },
    ...nameGroups(found, to),
  ];
}

/** Twelve letters and digits, as `newRequestId` makes them. */
const requestIdForm = /^[A-Za-z0-9_-]{12}$/;

function answerText({ status }: FoundRequest): string {
  return status === 0 ? words.find.request.gone : String(status);
}

/** What became of a request, and where its files are. */
function requestSection(found: FoundRequest, to: Addresses): Html {
  const said = words.find.request;
  const { requestId, at, method, route, user, company, durationMs, status } = found;
  const day = isoTime(at).slice(0, 10);
  const files =
    user === undefined || company === undefined
      ? undefined
      : link(to.at("/files", { company, user, from: day, to: day }), said.filesOf);
  const rows = facts([
    [said.id, code(requestId)],
    [said.at, timeText(at, { isPrecise: true })],
    [said.operation, route === undefined ? said.none : [method, " ", code(route)]],
    [said.user, user === undefined ? said.stranger : shortened(user)],
    [said.company, company === undefined ? undefined : shortened(company)],
    [said.status, answerText(found)],
    [said.took, durationText(durationMs)],
  ]);
  const told = html`<p>${said.means(status)}</p>`;
  return section(said.title, [
    status >= 400 || status === 0 ? remedy(said.means(status)) : told,
    rows,
    files,
  ]);
}

/** What the box takes, each with an example. */
function whatCanBeTyped(): Html {
  const { title, head, kinds } = words.find.typed;
  const rows = kinds.map(([what, example]) => [what, code(example)]);
  return section(title, table(head, rows, { caption: title, isCaptionHidden: true, empty: "" }));
}

/** A line has names that others chose, and commands of ours. */
function elsewhereLine(line: string): Html {
  return html`<bdi class="foreign">${prose(line.slice(0, longestLine))}</bdi>`;
}

function nothingFound({ elsewhere }: FindFound, text: string): Content {
  const { nothing, elsewhere: title, ways, steps, requestUnknown, requestCommand } = words.find;
  const list = (lines: readonly Content[]) => html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
  const requestStep = html`${requestUnknown} ${command(requestCommand(text))}`;
  const all = requestIdForm.test(text) ? [...steps, requestStep] : steps;
  return [
    notice("off", html`${nothing} ${shown(text)}.`),
    elsewhere.length > 0 && section(title, list(elsewhere.map(elsewhereLine))),
    section(ways, list(all)),
  ];
}

interface FoundAll {
  readonly found: FindFound;
  readonly request: FoundRequest | undefined;
  readonly text: string;
}

function content({ found, request, text }: FoundAll, to: Addresses): Content {
  const all = groups(found, to);
  const { cut, filterFiles, searchedTo } = words.find;
  const isNothing = all.every(({ rows }) => rows.length === 0);
  return [
    box(to, text),
    found.areCut && notice("off", [cut, " ", link(to.at("/files", { name: `${text}*` }), filterFiles)]),
    found.searchedTo !== null && [
      notice("wait", prose(searchedTo(isoTime(found.searchedTo.at)))),
      pager({ next: to.at("/find", { q: text, from: found.searchedTo.from }), isSearch: true }),
    ],
    request !== undefined && requestSection(request, to),
    isNothing && found.searchedTo === null && request === undefined
      ? nothingFound(found, text)
      : all.map(groupOf),
  ];
}

async function find(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const to = addresses(services);
  const text = (request.query.get("q") ?? "").trim().slice(0, longestText);
  const { title, found: titleOf } = words.find;
  const here = "find" as const;
  if (text === "") return page(services, request, { title, here, content: [box(to, ""), whatCanBeTyped()] });
  const from = request.query.get("from") ?? undefined;
  const { user } = request;
  const administeredIds = companiesFor(user, "act").map(({ id }) => id);
  const asked = { text, administeredIds, ...given({ from }) };
  const found = await services.ask("find", scopeFor(user), asked);
  const known = requestIdForm.test(text)
    ? await services.look("request", user, { requestId: text })
    : undefined;
  if (found.meant !== null) return seeOther(addressOf(to, found.meant));
  return page(services, request, {
    title: titleOf(text),
    here,
    content: content({ found, request: known, text }, to),
  });
}

export const findPage: ConsoleRoute = {
  access: "console",
  name: "console find",
  method: "GET",
  path: "/console/find",
  who: "look",
  run: find,
};
