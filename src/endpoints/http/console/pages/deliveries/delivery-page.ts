/** The page of one delivery: how it stands and why, its attempts with the answers of the peer, and what can be done. */
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { type ConsoleUser, companiesFor } from "../../console-user.ts";
import { sizeText } from "../../kit/amounts.ts";
import { hiddenField } from "../../kit/fields.ts";
import { reasonForm } from "../../kit/forms.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { notice, remedy, whoseMove } from "../../kit/notice.ts";
import { page } from "../../kit/page.ts";
import { facts, section } from "../../kit/section.ts";
import { code, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { durationText, timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { lookScope } from "../look-scope.ts";
import { notFoundPage } from "../not-found-page.ts";
import type { DeliveryFound } from "./deliveries-view.ts";
import { aboutStanding, standingBadge, stateOf, subjectOf, whyOf } from "./delivery-parts.ts";
import { exportFacts } from "./exports-page.ts";
import { severalAddress, type SeveralVerb } from "./several-deliveries.ts";

const said = words.deliveries;

function standing(found: DeliveryFound): Html {
  const { behind, remedy: todo, move, state, targetStanding } = found;
  const isOpen = state === "waiting" || state === "behind";
  const kind = state === "delivered" ? "ok" : state === "dead" ? "bad" : isOpen ? "wait" : "off";
  const ofTarget = isOpen && targetStanding !== undefined ? targetStanding : undefined;
  // The fault of the target is this one, as a rule: nobody reads it twice.
  const isSame = ofTarget?.fault !== undefined && ofTarget.fault.text === found.faultText;
  return notice(kind, [
    stateOf(found),
    whyOf(isSame ? { ...found, faultText: null } : found, targetStanding),
    behind === null ? undefined : html`<p>${said.one.behind(behind)}</p>`,
    move === undefined || state === "delivered" || isSame ? undefined : whoseMove(move),
    todo === undefined || state === "delivered" || isSame ? undefined : remedy(todo),
    ofTarget === undefined
      ? undefined
      : html`<p>${said.target} ${found.target}: ${standingBadge(ofTarget)}</p>${aboutStanding(ofTarget)}`,
  ]);
}

function who(by: string | null, from: string | null = null): string {
  return [by, from].filter((part) => part !== null).join(", ");
}

/** Rows without a moment are left out. */
function precise(at: number | null): Html | undefined {
  return at === null ? undefined : timeText(at, { isPrecise: true });
}

function factsOf(found: DeliveryFound, to: Addresses): Html {
  const { one, columns } = said;
  const { guid, createdAt, dueAt, deliveredAt, collectedAt, removedAt, fault, state } = found;
  return facts([
    [said.company, found.company],
    [columns.target, found.target],
    [said.kind, said.kinds[found.kind]],
    [one.subject, subjectOf(found, to)],
    [columns.madeAt, timeText(createdAt)],
    [one.due, state === "waiting" && dueAt > Date.now() ? timeText(dueAt) : undefined],
    [one.firstAttempt, precise(found.firstAttemptAt)],
    [one.lastAttempt, precise(found.lastAttemptAt)],
    [columns.deliveredAt, precise(deliveredAt)],
    [columns.attempts, found.attempts],
    [one.fault, fault === null ? undefined : html`${code(fault)} ${shown(found.faultText ?? "")}`],
    [
      one.collected,
      collectedAt === null
        ? undefined
        : html`${timeText(collectedAt)} ${shown(who(found.collectedBy, found.collectedFrom))}`,
    ],
    [
      one.removed,
      removedAt === null ? undefined : html`${timeText(removedAt)} ${shown(who(found.removedBy))}`,
    ],
    [one.size, found.size === null ? undefined : sizeText(found.size)],
    [one.sha256, found.sha256 === null ? undefined : code(found.sha256)],
    [one.guid, code(guid)],
  ]);
}

function attempts({ failedAttempts }: DeliveryFound): Html {
  const { one } = said;
  const rows = failedAttempts.map(({ at, durationMs, fault, text }) => [
    timeText(at, { isPrecise: true }),
    durationText(durationMs),
    html`<span class="unbroken">${code(fault)}</span>`,
    shown(text),
  ]);
  return table([one.at, one.took, one.faultKind, one.answer], rows, {
    ...{ caption: one.attemptsCaption, empty: one.noAttempts, isCaptionHidden: true },
  });
}

function repeats(found: DeliveryFound): Html {
  const { one } = said;
  const rows = found.repeats.map(({ askedAt, action, by, reason, state, attempts: count, deliveredAt }) => [
    timeText(askedAt),
    action === "giveUp" ? one.actions.giveUp : one.actions.again,
    by === null ? words.kit.none : shown(by),
    reason === null ? words.kit.none : shown(reason),
    html`${words.states.delivery[state]}, ${said.columns.attempts}: ${count}${deliveredAt === null ? "" : html`, ${timeText(deliveredAt)}`}`,
  ]);
  return table([one.at, said.columns.state, one.by, one.reason, one.was], rows, {
    ...{ caption: one.repeatsCaption, empty: one.noRepeats, isCaptionHidden: true },
  });
}

/** What can be done with one in this state. */
function verbsOf({ state, isGivenUp, kind }: DeliveryFound): readonly SeveralVerb[] {
  if (state === "delivered") return kind === "message" ? [] : ["delivery.resend"];
  if (state === "dropped") return isGivenUp ? ["delivery.retry"] : [];
  return state === "behind" ? ["delivery.giveUp"] : ["delivery.retry", "delivery.giveUp"];
}

/** What the receiver gets twice, or after what is newer. */
function warningOf({ newer }: DeliveryFound): Content {
  return newer === null
    ? undefined
    : html`<p>${said.one.newer(newer.name)} ${timeText(newer.deliveredAt)}.</p>`;
}

function acts(found: DeliveryFound, user: ConsoleUser, to: Addresses): Html | undefined {
  const mayAct = companiesFor(user, "act").some(({ id }) => id === found.companyId);
  const verbs = mayAct ? verbsOf(found) : [];
  if (verbs.length === 0) return undefined;
  const forms = verbs.map((verb) =>
    reasonForm({
      ...{ id: verb.replace(".", "-"), action: severalAddress(to, verb), formToken: user.formToken },
      label: said.several[verb].label,
      explanation: [html`<p>${said.several[verb].explanation}</p>`, warningOf(found)],
      fields: [hiddenField("of", found.guid), hiddenField("seenAt", Date.now())],
    }),
  );
  return section(said.one.acts, forms, { id: "acts" });
}

async function showDelivery(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { user, params } = request;
  const found = await services.ask("delivery", lookScope(user), { guid: params["guid"] ?? "" });
  if (found === undefined) return notFoundPage(services, request, { text: words.acts.notThere });
  const to = addresses(services);
  const { one } = said;
  return page(services, request, {
    ...{ title: one.title(found.name), here: "deliveries" },
    trail: [{ text: found.target, href: to.at("/deliveries", { target: found.target }) }],
    content: [
      standing(found),
      acts(found, user, to),
      section(one.facts, factsOf(found, to)),
      found.export === undefined
        ? undefined
        : section(one.manifest, [exportFacts(found.export), link(to.at("/exports"), said.exports.link)]),
      section(one.attempts, attempts(found)),
      section(one.repeats, repeats(found)),
    ],
  });
}

export const deliveryPage: ConsoleRoute = {
  ...{ access: "console", name: "consoleDelivery", method: "GET", path: "/console/deliveries/{guid}" },
  who: "look",
  run: showDelivery,
};
