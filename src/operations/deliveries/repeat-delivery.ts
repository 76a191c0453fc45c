/**
 * Retries and repetitions of deliveries that somebody requests: of dead ones, of those that were given up, of delivered
 * ones, and of those that wait for their time or their target, which are tried at once. Each takes the place in its
 * line that it had from the beginning, before all later ones of its stop that are open, and its former state is kept
 * (`delivery_repeats`).
 */
import { isGivenUp } from "../../domain/outbound/delivery-state.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import {
  type Asked,
  type Asker,
  findAsked,
  findHeadOfLine,
  findNewerDelivered,
  type FoundDelivery,
  keepHistory,
  makeAllDue,
  makeDue,
  type NewerDelivery,
  putBehind,
  reopenDelivery,
  type RepeatedDelivery,
  type UnknownDelivery,
  unknownDelivery,
} from "../../store/outbound/delivery-requests.ts";
import { announceNews, changeTargetCounts } from "../../store/outbound/outbound-targets.ts";

export type RepeatOutcome =
  | UnknownDelivery
  /** It cannot be requested, or not in this way. */
  | { readonly kind: "refused"; readonly delivery: RepeatedDelivery; readonly isMessage: boolean }
  | {
      readonly kind: "queued";
      /** `behind` when earlier ones of its stop are open: it comes after them. */
      readonly delivery: RepeatedDelivery;
      readonly isTargetConfigured: boolean;
      /** This one will come after it. */
      readonly newerDelivered: NewerDelivery | null;
    };

/** A repetition, and, where that is known, who asks for it and why. */
type RepeatAsked = Asked & Partial<Asker>;

/** One that waits for its next attempt, or for its target, has it now; the attempt counts like any other. */
async function hasten(tx: Transaction, waiting: FoundDelivery, now: number): Promise<RepeatOutcome> {
  await makeDue(tx, { id: waiting.id, now });
  await announceNews(tx, waiting.targetId);
  const isTargetConfigured = waiting.isConfigured === 1;
  return { kind: "queued", delivery: waiting, isTargetConfigured, newerDelivered: null };
}

/**
 * Makes everything that waits for its next attempt at a target due now, the oldest first: pauses of up to six hours have
 * no purpose once somebody has repaired the target. Returns how many they are.
 */
export async function hastenAll(
  tx: Transaction,
  { targetId, now }: { readonly targetId: number; readonly now: number },
): Promise<number> {
  const { affected } = await makeAllDue(tx, { targetId, now });
  if (affected > 0) await announceNews(tx, targetId);
  return affected;
}

/** Its state at its place in the line. When it becomes the first, the former first is behind it. */
async function takePlace(tx: Transaction, one: FoundDelivery): Promise<"waiting" | "behind"> {
  const head = await findHeadOfLine(tx, one);
  if (head === undefined) return "waiting";
  if (head.lineNbr === 0 && head.id < one.id) return "behind";
  await putBehind(tx, { id: head.id });
  return "waiting";
}

/** Puts it back in the queue, due now. The fault of a dead one stays visible until it is delivered. */
async function reopen(tx: Transaction, one: FoundDelivery, asked: RepeatAsked): Promise<RepeatOutcome> {
  const { now } = asked;
  await keepHistory(tx, { ...asked, action: "again" });
  const state = await takePlace(tx, one);
  await reopenDelivery(tx, { id: one.id, state, now });
  const dead = one.state === "dead" ? -1 : 0;
  await changeTargetCounts(tx, { id: one.targetId, open: 1, dead });
  const newerDelivered = one.kind === "completion" ? await findNewerDelivered(tx, one) : null;
  const isTargetConfigured = one.isConfigured === 1;
  return { kind: "queued", delivery: { ...one, state }, isTargetConfigured, newerDelivered };
}

type Verdict = "hasten" | "reopen" | "refuse";

/** What a retry of the delivery does. */
function judgeRetry(found: FoundDelivery, now: number): Verdict {
  const isPutOff = found.dueAt > now || found.pausedUntil > now || found.isConfigured === 0;
  if (found.state === "waiting" && isPutOff) return "hasten";
  return found.state === "dead" || isGivenUp(found) ? "reopen" : "refuse";
}

/** What a repetition of the delivery does: a message to a customer is not sent twice. */
function judgeResend({ state, kind }: FoundDelivery): Verdict {
  return state === "delivered" && kind !== "message" ? "reopen" : "refuse";
}

function refused(found: FoundDelivery): RepeatOutcome {
  return { kind: "refused", delivery: found, isMessage: found.kind === "message" };
}

/**
 * Tries a dead delivery, or one that was given up, again, with all attempts before it. One that waits until it is due is
 * due now; one that waits for its target is queued too, for the caller to end the pause.
 */
export async function retryDelivery(tx: Transaction, asked: RepeatAsked): Promise<RepeatOutcome> {
  const { id, now } = asked;
  const found = await findAsked(tx, id);
  if (found === undefined) return await unknownDelivery(tx, id);
  const verdict = judgeRetry(found, now);
  if (verdict === "hasten") return await hasten(tx, found, now);
  return verdict === "reopen" ? await reopen(tx, found, asked) : refused(found);
}

/** Sends a delivered one again, under the same id with the same bytes. */
export async function resendDelivery(tx: Transaction, asked: RepeatAsked): Promise<RepeatOutcome> {
  const found = await findAsked(tx, asked.id);
  if (found === undefined) return await unknownDelivery(tx, asked.id);
  return judgeResend(found) === "reopen" ? await reopen(tx, found, asked) : refused(found);
}

/** What a retry or a repetition would come to, but for remarks; only reads, so that the daemon waits for nothing. */
export async function wouldRepeat(
  read: Reader,
  { id, now, action }: Asked & { readonly action: "retry" | "resend" },
): Promise<RepeatOutcome> {
  const found = await findAsked(read, id);
  if (found === undefined) return await unknownDelivery(read, id);
  const verdict = action === "retry" ? judgeRetry(found, now) : judgeResend(found);
  if (verdict === "refuse") return refused(found);
  const isTargetConfigured = found.isConfigured === 1;
  return { kind: "queued", delivery: found, isTargetConfigured, newerDelivered: null };
}
