/**
 * Deliveries that are tried again, sent again or given up, one or many.
 *
 *   chosen (POST without a reason), or all of a filter (GET) --> what it is about, and the form --> done, in each company
 *
 * The form names each delivery: what was shown is done, and nothing that came later.
 */
import type { AskedDeliveryState } from "../../../../../domain/outbound/delivery-state.ts";
import type { Answer } from "../../../server/answer.ts";
import { mostAtOnce, type NotDone, type SeveralDone } from "../../console-acts.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { type ConsoleCompany, companiesFor } from "../../console-user.ts";
import { hiddenField } from "../../kit/fields.ts";
import { type Content, html } from "../../kit/html.ts";
import { type Addresses, addresses, link, withQuery } from "../../kit/link.ts";
import { notice } from "../../kit/notice.ts";
import { readReason } from "../../kit/reason.ts";
import { shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { redirect } from "../../session/session-route.ts";
import { actPage, readSeenAt, type SentForm } from "../acts/act-page.ts";
import { chosenOf, resultPage } from "../acts/chosen.ts";
import { selectParts, selectUntil } from "../acts/select-parts.ts";
import { readDeliveriesFilter, wholeFilter } from "./deliveries-filter.ts";
import type { ShownDelivery } from "./deliveries-view.ts";
import { stateOf, subjectOf } from "./delivery-parts.ts";

const said = words.deliveries;

export const severalVerbs = ["delivery.retry", "delivery.resend", "delivery.giveUp"] as const;
export type SeveralVerb = (typeof severalVerbs)[number];

/** Of what a filter selects by its state: that for which the act can be asked. */
type PossibleStates = Readonly<Partial<Record<AskedDeliveryState, AskedDeliveryState>>>;

interface Part {
  readonly path: string;
  /** Its key among the words of what was done. */
  readonly done: string;
  readonly states: PossibleStates;
  /** Of a filter without a state. */
  readonly usual: AskedDeliveryState;
}

const parts: Readonly<Record<SeveralVerb, Part>> = {
  "delivery.retry": {
    ...{ path: "retry", done: "deliveriesRetried", usual: "dead" },
    // Those that were given up are dropped; what waits behind another has no attempt that could be sooner.
    states: { dead: "dead", open: "waiting", waiting: "waiting", dropped: "dropped" },
  },
  "delivery.resend": {
    ...{ path: "resend", done: "deliveriesResent", usual: "delivered" },
    states: { delivered: "delivered" },
  },
  "delivery.giveUp": {
    ...{ path: "give-up", done: "deliveriesGivenUp", usual: "dead" },
    states: { dead: "dead", open: "open", waiting: "waiting", behind: "behind" },
  },
};

export function severalAddress(to: Addresses, verb: SeveralVerb): string {
  return to.at(`/deliveries/act/${parts[verb].path}`);
}

interface Selected {
  readonly deliveries: readonly ShownDelivery[];
  /** Of those that were chosen: what is not there, or not any more. */
  readonly missing: readonly string[];
  /** There may be more. */
  readonly isCut: boolean;
}

/** The companies for which the user may act: of others nothing is found. */
function actScope({ user }: ConsoleRequest) {
  return { companies: companiesFor(user, "act"), isOperator: user.isOperator };
}

/** What the filter selects of what can be done at all, the newest first. */
async function selectAll(
  services: ConsoleServices,
  request: ConsoleRequest,
  verb: SeveralVerb,
): Promise<Selected> {
  const read = readDeliveriesFilter(request.query);
  const { states, usual } = parts[verb];
  const state = states[read.filter?.state ?? usual];
  if (read.filter === undefined || state === undefined) return { deliveries: [], missing: [], isCut: false };
  const filter = { ...(await wholeFilter(services, request, read)), state };
  const { items, isCut } = await selectParts(selectUntil(), async (asked) => {
    const found = await services.ask("deliveries", actScope(request), { filter, ...asked });
    return { items: found.deliveries, before: found.before };
  });
  return { deliveries: items, missing: [], isCut };
}

async function selectChosen(services: ConsoleServices, request: ConsoleRequest): Promise<Selected> {
  const chosen = chosenOf(request.form).map((guid) => guid.toLowerCase());
  const guids = chosen.slice(0, mostAtOnce);
  if (guids.length === 0) return { deliveries: [], missing: [], isCut: false };
  const asked = { filter: { guids }, limit: guids.length };
  const { deliveries } = await services.ask("deliveries", actScope(request), asked);
  const known = new Set(deliveries.map(({ guid }) => guid));
  const missing = guids.filter((guid) => !known.has(guid));
  return { deliveries, missing, isCut: chosen.length > mostAtOnce };
}

function previewOf({ deliveries, isCut }: Selected, to: Addresses): Content {
  const { columns } = said;
  const rows = deliveries.map((delivery) => [
    html`${link(to.delivery(delivery.guid), shortened(delivery.name, 80))} ${subjectOf(delivery, to)}`,
    stateOf(delivery),
    shortened(delivery.target, 40),
    timeText(delivery.createdAt),
    timeText(delivery.deliveredAt),
  ]);
  const head = [columns.name, columns.state, columns.target, columns.madeAt, columns.deliveredAt];
  return [
    html`<p>${said.countOf(deliveries.length)}</p>`,
    isCut ? notice("wait", words.acts.mayBeMore(deliveries.length)) : undefined,
    table(head, rows, { caption: said.chosenCaption, empty: said.noneChosen }),
  ];
}

interface Shown {
  readonly verb: SeveralVerb;
  readonly selected: Selected;
  readonly sent?: SentForm;
}

function show(services: ConsoleServices, request: ConsoleRequest, { verb, selected, sent }: Shown): Answer {
  const to = addresses(services);
  const { title, label, explanation } = said.several[verb];
  const shownPage = {
    ...{ title, label, explanation, here: "deliveries" as const, action: severalAddress(to, verb) },
    back: { text: said.title, href: to.at("/deliveries") },
    preview: previewOf(selected, to),
    fields: hiddenField("of", selected.deliveries.map(({ guid }) => guid).join(",")),
    isImpossible: selected.deliveries.length === 0,
  };
  return actPage(services, request, shownPage, sent);
}

/** Each company by itself: an act is for one. */
async function runEach(
  services: ConsoleServices,
  request: ConsoleRequest,
  { verb, selected, reason }: Omit<Shown, "sent"> & { readonly reason: string },
): Promise<SeveralDone> {
  const seenAt = readSeenAt(request.form);
  let done = 0;
  const notDone: NotDone[] = [];
  for (const { id, code } of companiesFor(request.user, "act") satisfies readonly ConsoleCompany[]) {
    const of = selected.deliveries.filter(({ company }) => company === code).map(({ guid }) => guid);
    if (of.length === 0) continue;
    const by = { user: request.user, companyId: id, reason };
    const outcome = await services.act(verb, by, { of, seenAt });
    done += outcome.done;
    notDone.push(...outcome.notDone);
  }
  const { missing } = selected;
  if (missing.length > 0) notDone.push({ why: words.acts.notThere, of: missing });
  return { done, notDone };
}

function partlyDone(
  services: ConsoleServices,
  request: ConsoleRequest,
  { outcome, selected }: { readonly outcome: SeveralDone; readonly selected: Selected },
): Answer {
  const to = addresses(services);
  const names = new Map(selected.deliveries.map(({ guid, name }) => [guid, name]));
  const href = to.at("/deliveries");
  const list = { here: "deliveries" as const, text: said.title, href, addressOf: to.delivery };
  return resultPage(services, request, { outcome, names, list });
}

async function run(services: ConsoleServices, request: ConsoleRequest, verb: SeveralVerb): Promise<Answer> {
  const selected = await selectChosen(services, request);
  // The list of deliveries asks what would be done: only the page of the act has a field for the reason.
  if (!request.form.has("reason") || selected.deliveries.length === 0)
    return show(services, request, { verb, selected });
  const { reason, fault } = readReason(request.form);
  if (fault !== undefined) return show(services, request, { verb, selected, sent: { reason, fault } });
  const outcome = await runEach(services, request, { verb, selected, reason });
  const { deliveries, missing } = selected;
  const only = deliveries.length + missing.length === 1 ? deliveries[0] : undefined;
  const [why] = outcome.notDone;
  if (why !== undefined && only !== undefined)
    return show(services, request, { verb, selected, sent: { reason, refusal: why.why } });
  if (why !== undefined) return partlyDone(services, request, { outcome, selected });
  const to = only === undefined ? "/deliveries" : `/deliveries/${only.guid}`;
  return redirect(services, withQuery(`/console${to}`, { done: parts[verb].done }));
}

function routesOf(verb: SeveralVerb): readonly ConsoleRoute[] {
  const { path } = parts[verb];
  const shared = { access: "console", who: "act", path: `/console/deliveries/act/${path}` } as const;
  return [
    {
      ...shared,
      ...{ name: `consoleDeliveries.${path}.page`, method: "GET" },
      run: async (services, request) =>
        show(services, request, { verb, selected: await selectAll(services, request, verb) }),
    },
    {
      ...shared,
      ...{ name: `consoleDeliveries.${path}`, method: "POST" },
      run: (services, request) => run(services, request, verb),
    },
  ];
}

export const severalDeliveriesRoutes: readonly ConsoleRoute[] = severalVerbs.flatMap(routesOf);
