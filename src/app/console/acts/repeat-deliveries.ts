/** Deliveries that are tried again, sent again or given up, by the operations that the commands use. */
import { auditSubjectText } from "../../../domain/audit/audit-subject.ts";
import type { SeveralAsked, SeveralDone } from "../../../endpoints/http/console/console-acts.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { giveUpDelivery } from "../../../operations/deliveries/give-up-delivery.ts";
import {
  type RepeatOutcome,
  resendDelivery,
  retryDelivery,
} from "../../../operations/deliveries/repeat-delivery.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import { listIdsOfGuids } from "../../../store/outbound/delivery-lists.ts";
import { findAsked, type FoundDelivery } from "../../../store/outbound/delivery-requests.ts";
import { listOutboundTargets } from "../../../store/outbound/outbound-targets.ts";
import { endPausesIn } from "../../admin/delivery-retry.ts";
import { type AuditedChange, companyOf, type RunningAct } from "../running-act.ts";
import { doSeveral, type ItemOutcome } from "./several.ts";

/** What is done with one: `why` it is not, or how it is now. */
type Done = { readonly why: string } | { readonly after: object };

interface Doing {
  /** The order in which they are done, by their ids. */
  readonly order: 1 | -1;
  /** When an attempt or a delivery since it was looked at makes it another one; null when none does. */
  readonly changedAt: (found: FoundDelivery) => number | null;
  readonly run: (tx: Transaction, found: FoundDelivery, act: RunningAct) => Promise<Done>;
  /** Whoever asks has repaired the target. */
  readonly endsPauses: boolean;
}

function whyNotRetried(outcome: Exclude<RepeatOutcome, { kind: "queued" }>): string {
  if (outcome.kind === "unknown") return actWords.notThere;
  const { state } = outcome.delivery;
  if (state === "delivered")
    return outcome.isMessage ? actWords.delivery.deliveredMessage : actWords.delivery.delivered;
  return state === "dropped" ? actWords.delivery.dropped : actWords.delivery.isTriedAnyway(state);
}

function whyNotResent(outcome: Exclude<RepeatOutcome, { kind: "queued" }>): string {
  if (outcome.kind === "unknown") return actWords.notThere;
  if (outcome.isMessage) return actWords.delivery.noMessageTwice;
  const { state } = outcome.delivery;
  return state === "dead" ? actWords.delivery.deadInstead : actWords.delivery.notDelivered(state);
}

const retrying: Doing = {
  order: 1,
  changedAt: ({ state, lastAttemptAt }) => (state === "dead" ? lastAttemptAt : null),
  async run(tx, { id }, { now, by }) {
    const outcome = await retryDelivery(tx, { id, now, by: by.user.userName, reason: by.reason });
    if (outcome.kind !== "queued") return { why: whyNotRetried(outcome) };
    return { after: { state: outcome.delivery.state, dueAt: isoTime(now) } };
  },
  endsPauses: true,
};

const resending: Doing = {
  order: 1,
  changedAt: ({ state, deliveredAt }) => (state === "delivered" ? deliveredAt : null),
  async run(tx, { id }, { now, by }) {
    const outcome = await resendDelivery(tx, { id, now, by: by.user.userName, reason: by.reason });
    if (outcome.kind !== "queued") return { why: whyNotResent(outcome) };
    return { after: { state: outcome.delivery.state, dueAt: isoTime(now) } };
  },
  endsPauses: false,
};

const givingUp: Doing = {
  // The later ones of a stop first: none of them is told to go on, and then given up.
  order: -1,
  changedAt: () => null,
  async run(tx, { id }, { now, by }) {
    const outcome = await giveUpDelivery(tx, { id, now, by: by.user.userName, reason: by.reason });
    if (outcome.kind === "unknown") return { why: actWords.notThere };
    if (outcome.kind === "givenUp") return { after: { state: "dropped", next: outcome.next?.name ?? null } };
    const isDelivered = outcome.delivery.state === "delivered";
    return { why: isDelivered ? actWords.delivery.hasIt : actWords.delivery.droppedBefore };
  },
  endsPauses: false,
};

function beforeOf({ state, attempts, fault, dueAt }: FoundDelivery) {
  return { state, attempts, fault, dueAt: isoTime(dueAt) };
}

/** One of those that are asked for: its reference, and its number. */
interface Wanted {
  readonly of: string;
  readonly id: number;
}

interface Turn {
  readonly act: RunningAct;
  readonly doing: Doing;
  readonly seenAt: number;
  readonly note: (change: AuditedChange) => void;
  /** The targets of what was done. */
  readonly targets: Set<number>;
}

async function doOne(tx: Transaction, { of, id }: Wanted, turn: Turn): Promise<ItemOutcome> {
  const { act, doing, seenAt, note, targets } = turn;
  const before = await findAsked(tx, id);
  if (before === undefined) return { of, kind: "notThere" };
  const subject = auditSubjectText({ kind: "delivery", name: before.name, guid: of });
  const changedAt = doing.changedAt(before);
  const isOther = changedAt !== null && changedAt > seenAt;
  const done = isOther
    ? { why: actWords.changedSince(isoTime(changedAt)) }
    : await doing.run(tx, before, act);
  if ("why" in done) return { of, kind: "changed", subject, why: done.why };
  note({ subject, before: beforeOf(before), after: done.after });
  targets.add(before.targetId);
  return { of, kind: "done" };
}

async function doSome(
  { act, doing, seenAt }: Pick<Turn, "act" | "doing" | "seenAt">,
  wanted: readonly Wanted[],
): Promise<readonly ItemOutcome[]> {
  return await act.unit(async (tx, note) => {
    const turn: Turn = { act, doing, seenAt, note, targets: new Set() };
    const outcomes: ItemOutcome[] = [];
    for (const one of wanted) outcomes.push(await doOne(tx, one, turn));
    if (doing.endsPauses) {
      const concerned = (await listOutboundTargets(tx)).filter(({ id }) => turn.targets.has(id));
      await endPausesIn(tx, concerned, act.now);
    }
    return outcomes;
  });
}

async function doEach(act: RunningAct, asked: SeveralAsked, doing: Doing): Promise<SeveralDone> {
  const { read } = act.context.store;
  const found = await listIdsOfGuids(read, { companyId: companyOf(act), guids: asked.of });
  const ids = new Map(found.map(({ id, guid }) => [guid, id]));
  const idOf = (guid: string) => ids.get(guid) ?? 0;
  const ordered = asked.of.toSorted((one, other) => (idOf(one) - idOf(other)) * doing.order);
  return await doSeveral(act, { ...asked, of: ordered }, async (guids) => {
    const wanted = guids.flatMap((of) => (ids.has(of) ? [{ of, id: idOf(of) }] : []));
    const notThere = guids.filter((of) => !ids.has(of)).map((of) => ({ of, kind: "notThere" }) as const);
    if (wanted.length === 0) return notThere;
    return [...notThere, ...(await doSome({ act, doing, seenAt: asked.seenAt }, wanted))];
  });
}

/** Dead ones, and those that were given up, with all attempts before them; waiting ones at once. Ends pauses of targets. */
export function retryDeliveriesByGuid(act: RunningAct, asked: SeveralAsked): Promise<SeveralDone> {
  return doEach(act, asked, retrying);
}

/** Delivered ones, under the same ids with the same bytes, in their order. */
export function resendDeliveriesByGuid(act: RunningAct, asked: SeveralAsked): Promise<SeveralDone> {
  return doEach(act, asked, resending);
}

/** Open and dead ones; the later ones of their stops go on. */
export function giveUpDeliveriesByGuid(act: RunningAct, asked: SeveralAsked): Promise<SeveralDone> {
  return doEach(act, asked, givingUp);
}
