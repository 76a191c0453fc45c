/**
 * When a failed delivery is retried, and how long a failing target is paused (specification/outbound.md#retries). The
 * schedule is defined here alone.
 */
import { hourMs, minuteMs, secondMs } from "../../lib/durations.ts";

/** After the first, the second, ... failed attempt; the last one goes for all that follow. */
const delaysMs = [
  5 * secondMs,
  30 * secondMs,
  2 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  6 * hourMs,
] as const;
const longestMs = 6 * hourMs;
const longestPauseMs = 10 * minuteMs;
/** Each attempt is one more wrong guess until somebody corrects the credentials. */
const longestRefusedPauseMs = hourMs;
/** From the first attempt; one that fails then is the last. */
export const giveUpAfterMs = 72 * hourMs;
const spread = 0.15;
/** The longest wait: a later due time was written while the clock was wrong. */
export const longestWaitMs = longestMs * (1 + spread);

/** How a failed attempt stands. `random` is from 0 to 1: it spreads deliveries that failed together. */
export interface FailedAttempt {
  /** Attempts so far, this one among them, or failures of the target in a row; from 1. */
  readonly failures: number;
  readonly now: number;
  readonly random: number;
  /** The pause that the server asked for. */
  readonly retryAfterMs?: number | undefined;
}

function delayAfter(failures: number): number {
  return delaysMs[Math.max(1, failures) - 1] ?? longestMs;
}

function scheduledMs({ failures, random }: FailedAttempt): number {
  return Math.round(delayAfter(failures) * (1 - spread + 2 * spread * random));
}

/** Never before the time that the server asked for. */
function askedMs({ random, retryAfterMs = 0 }: FailedAttempt): number {
  return Math.round(Math.min(Math.max(0, retryAfterMs), longestMs) * (1 + spread * random));
}

function afterFailure(attempt: FailedAttempt): number {
  // Not before the schedule either: a server that requests no pause must not cause a storm of attempts.
  return attempt.now + Math.max(scheduledMs(attempt), askedMs(attempt));
}

/**
 * When the delivery is tried next, in milliseconds UTC: 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, then each 6 h, each ±15 %,
 * or when the server asked for it, at most 6 h. The last time is 72 h after the first attempt; undefined after that.
 * Without `firstAttemptAt` there is no last time.
 */
export function nextAttemptAt(
  attempt: FailedAttempt & { readonly firstAttemptAt: number },
): number | undefined;
export function nextAttemptAt(attempt: FailedAttempt): number;
export function nextAttemptAt(
  attempt: FailedAttempt & { readonly firstAttemptAt?: number },
): number | undefined {
  if (attempt.firstAttemptAt === undefined) return afterFailure(attempt);
  const last = attempt.firstAttemptAt + giveUpAfterMs;
  return attempt.now >= last ? undefined : Math.min(afterFailure(attempt), last);
}

/**
 * The end of a target's pause: by the same schedule, but at most 10 min unless it asked for longer; at most 1 h when it
 * refuses the sign-in.
 */
export function pausedUntil(attempt: FailedAttempt & { readonly isPermanent?: boolean }): number {
  const longest = attempt.isPermanent === true ? longestRefusedPauseMs : longestPauseMs;
  return attempt.now + Math.max(Math.min(scheduledMs(attempt), longest), askedMs(attempt));
}
