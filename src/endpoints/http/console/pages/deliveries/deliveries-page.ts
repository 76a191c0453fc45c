/** Page 7, deliveries: how the targets stand, and the deliveries by a filter that stands in the address. */
import { given } from "../../../../../lib/given.ts";
import { isoTime } from "../../../../../lib/iso-time.ts";
import type { Answer } from "../../../server/answer.ts";
import { charts } from "../../assets/assets.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { type ConsoleUser, companiesFor } from "../../console-user.ts";
import { hiddenField, selectField, textField } from "../../kit/fields.ts";
import { filterForm } from "../../kit/forms.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { page } from "../../kit/page.ts";
import { notice } from "../../kit/notice.ts";
import { pager } from "../../kit/pager.ts";
import { section } from "../../kit/section.ts";
import { prose, shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { askedDeliveryStates } from "../../../../../domain/outbound/delivery-state.ts";
import { lookScope } from "../look-scope.ts";
import {
  lateFetch,
  type ReadDeliveriesFilter,
  readDeliveriesFilter,
  shownKinds,
  wholeFilter,
} from "./deliveries-filter.ts";
import type { DeliveriesFound, ShownDelivery } from "./deliveries-view.ts";
import { stateOf, subjectOf, whyOf } from "./delivery-parts.ts";
import { lagSection, readLagSpan } from "./lag-section.ts";
import type { LagsFound } from "./lag-view.ts";
import { holdNotice } from "./release-act.ts";
import { severalAddress, severalVerbs } from "./several-deliveries.ts";
import { targetsSection } from "./targets-section.ts";

const said = words.deliveries;
const rowsOfPage = 50;

/** Charts of more targets are asked for one by one, by the filter. */
const shownLags = 4;

interface Shown {
  readonly user: ConsoleUser;
  readonly to: Addresses;
  readonly read: ReadDeliveriesFilter;
  readonly found: DeliveriesFound;
  readonly lags: LagsFound;
}

function filterFields({ user, read: { texts, faults }, found }: Shown): Content {
  const all = ["", said.all] as const;
  const companies = companiesFor(user, "look").map(({ code }) => [code, code] as const);
  const known = [...found.targets.map(({ name }) => name), texts.target];
  const targets = [...new Set(known)].filter((name) => name !== "").map((name) => [name, name] as const);
  const states = askedDeliveryStates.map((state) => [state, words.states.askedDelivery[state]] as const);
  const kinds = shownKinds.map((kind) => [kind, said.kinds[kind]] as const);
  const { company, target, state, kind, name, stop, fetched, from, to } = texts;
  return [
    companies.length > 1 &&
      selectField({ name: "company", label: said.company, value: company, options: [all, ...companies] }),
    selectField({ name: "target", label: said.target, value: target, options: [all, ...targets] }),
    selectField({
      ...{ name: "state", label: said.state, value: state, error: faults.state },
      options: [all, ...states],
    }),
    selectField({
      ...{ name: "kind", label: said.kind, value: kind, error: faults.kind },
      options: [all, ...kinds],
    }),
    textField({ name: "name", label: said.name, value: name, hint: said.nameHint, maxLength: 300 }),
    textField({ name: "stop", label: said.stop("").trim(), value: stop, maxLength: 300 }),
    selectField({
      ...{ name: "fetched", label: said.fetched, value: fetched, error: faults.fetched },
      options: [all, [lateFetch, said.notFetched]],
    }),
    textField({ name: "from", label: said.from, value: from, type: "date", error: faults.from }),
    textField({ name: "to", label: said.to, value: to, type: "date", error: faults.to }),
  ];
}

function choiceOf({ guid, name, company }: ShownDelivery, user: ConsoleUser): Content {
  if (!companiesFor(user, "act").some(({ code }) => code === company)) return undefined;
  return html`<input type="checkbox" name="of" value="${guid}" aria-label="${said.choose(name)}">`;
}

function rowOf(delivery: ShownDelivery, { user, to, found }: Shown, mayAct: boolean): readonly Content[] {
  const { guid, name, company, target, createdAt, deliveredAt, attempts } = delivery;
  const isOfMany = companiesFor(user, "look").length > 1;
  return [
    html`${link(to.delivery(guid), shortened(name, 80))} ${subjectOf(delivery, to)}${
      isOfMany && html` <span class="company">${company}</span>`
    }`,
    stateOf(delivery),
    shortened(target, 40),
    timeText(createdAt),
    timeText(deliveredAt),
    attempts,
    whyOf(
      delivery,
      found.targets.find((one) => one.company === company && one.name === target),
    ),
    ...(mayAct ? [choiceOf(delivery, user)] : []),
  ];
}

/** The buttons below the list: each leads to what it would do, with those that are chosen. */
function choiceButtons(to: Addresses): Html {
  const buttons = severalVerbs.map(
    (verb) =>
      html`<button type="submit" formaction="${severalAddress(to, verb)}">${said.several[verb].label}</button> `,
  );
  return html`<div class="buttons"><span class="hint">${said.chosen}</span> ${buttons}</div>`;
}

function list(shown: Shown): Html {
  const { user, to, found, read } = shown;
  const mayAct = companiesFor(user, "act").length > 0 && found.deliveries.length > 0;
  const { columns, caption, empty, emptyPart } = said;
  const { searchedTo } = found;
  const nothing = searchedTo === null ? empty : prose(emptyPart(isoTime(searchedTo)));
  const head = [
    ...[columns.name, columns.state, columns.target, columns.madeAt, columns.deliveredAt],
    { text: columns.attempts, isNumber: true },
    columns.why,
    ...(mayAct ? [columns.choice] : []),
  ];
  const rows = found.deliveries.map((delivery) => rowOf(delivery, shown, mayAct));
  const shownTable = table(head, rows, { caption, empty: nothing, id: "deliveries" });
  if (!mayAct) return shownTable;
  const first = severalAddress(to, "delivery.retry");
  const ofFilter = severalVerbs.map(
    (verb) =>
      html`${link(`${severalAddress(to, verb)}?${new URLSearchParams(read.texts)}`, said.several[verb].label)} `,
  );
  return html`<form method="post" action="${first}">${hiddenField("formToken", user.formToken)}${shownTable}${choiceButtons(to)}</form><p class="links">${said.allOf} ${ofFilter}</p>`;
}

function content(shown: Shown, request: ConsoleRequest): Content {
  const { to, read, found, user, lags } = shown;
  const { texts } = read;
  const isOfMany = companiesFor(user, "look").length > 1;
  const isFiltered = Object.values(texts).some((text) => text !== "");
  const action = to.at("/deliveries");
  const further = found.searchedTo === null ? undefined : "yes";
  return [
    found.hold === undefined ? undefined : holdNotice(found.hold, user, to),
    targetsSection(found.targets, user, to),
    lagSection(lags, { span: readLagSpan(request.query), texts, to, isOfMany }),
    section(
      said.title,
      [
        filterForm({ action, fields: filterFields(shown), isFiltered }),
        list(shown),
        found.searchedTo !== null && notice("wait", prose(words.files.searchedTo(isoTime(found.searchedTo)))),
        pager({
          first: request.query.has("before") ? to.at("/deliveries", texts) : undefined,
          next:
            found.before === null
              ? undefined
              : to.at("/deliveries", { ...texts, before: found.before, further }),
          isSearch: further !== undefined,
        }),
      ],
      {
        id: "list",
        tools: html`${link(`${to.at("/waiting")}#deliveries`, words.waiting.title)} ${link(to.at("/exports"), said.exports.link)}`,
      },
    ),
  ];
}

async function showDeliveries(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { user, query } = request;
  const read = readDeliveriesFilter(query);
  const before = query.get("before") ?? undefined;
  const { company, target } = read.filter ?? {};
  const lagAsked = { span: readLagSpan(query), limit: shownLags, ...given({ company, target }) };
  const filter = await wholeFilter(services, request, read);
  const [found, lags] = await Promise.all([
    services.ask("deliveries", lookScope(user), {
      filter,
      limit: rowsOfPage,
      ...given({ before }),
      isFurther: query.has("further"),
    }),
    services.ask("targetLags", lookScope(user), lagAsked),
  ]);
  // A filter with a fault selects nothing, and says what is wrong with it.
  const selected =
    read.filter === undefined ? { ...found, deliveries: [], before: null, searchedTo: null } : found;
  const shown = { user, to: addresses(services), read, found: selected, lags };
  return page(services, request, {
    ...{ title: said.title, here: "deliveries", content: content(shown, request) },
    scripts: [...charts, "charts.js"],
    status: read.filter === undefined ? 400 : 200,
  });
}

export const deliveriesPage: ConsoleRoute = {
  ...{ access: "console", name: "consoleDeliveries", method: "GET", path: "/console/deliveries" },
  who: "look",
  run: showDeliveries,
};
