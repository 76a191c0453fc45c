/**
 * An incident: one cause of trouble, from its first sign until it has been gone for a while.
 *
 *   (none) ──found──> open ──not found for so long──> closed ──found again within a day──> open, the same incident
 *
 * Each time it is opened again it has to be gone for twice as long, half a day at most, so that a cause that comes and
 * goes becomes one long incident instead of a mail a minute.
 *
 * What an audience is told follows from the incident and from what it was told last: nothing else is kept. So quiet hours,
 * a limit, a crash or a restart only delay it.
 */
import type { AlertKindName } from "./alert-kinds.ts";
import { dayMs } from "../../lib/durations.ts";

/** A cause that a detector sees at this moment. */
export interface Finding {
  /** What tells it from others of its kind in the company: the name of a target, say; empty when there can be but one. */
  readonly cause: string;
  /** What is wrong, one sentence without a full stop: for mails and lists. */
  readonly summary: string;
  /** How many: files, deliveries. What happens again and again counts from the opening on. */
  readonly count: number;
  /** A few examples: names of files with their reasons. */
  readonly samples: readonly string[];
  /** Since when, when that is earlier than this moment; milliseconds UTC. */
  readonly since?: number;
  /** A greater one is told at once: it has got worse. 1 unless given. */
  readonly level?: number;
  /** Instead of that of the kind. */
  readonly remedy?: string;
}

export interface Incident extends Required<Omit<Finding, "since">> {
  readonly id: number;
  /** Of the company that it belongs to, or `operatorId`. */
  readonly companyId: number;
  readonly kind: AlertKindName;
  /** When its cause began; of one that was opened again, when it did so first. Milliseconds UTC, as all. */
  readonly openedAt: number;
  /** When it was last found. */
  readonly seenAt: number;
  readonly closedAt: number | null;
  /** How often it was opened again. */
  readonly reopened: number;
}

/** Less than a day, so that what comes back each day is told each day. */
const longestGoneMs = dayMs / 2;

/** A cause that is found again within this time is the same incident. */
export const reopenWithinMs = dayMs;

/** How long its cause has to be gone before the incident is closed. */
export function closesAfterMs({ reopened }: Pick<Incident, "reopened">, closeAfterMs: number): number {
  return Math.min(closeAfterMs * 2 ** Math.min(reopened, 20), Math.max(closeAfterMs, longestGoneMs));
}

/** What an audience was told of an incident last. */
export interface IncidentReport {
  /** `worse`: that it is open and has got worse. */
  readonly state: "open" | "worse" | "closed";
  readonly level: number;
  readonly reportedAt: number;
}

/** `passed`: it has opened and closed before the audience could be told. */
export type IncidentNews = "opened" | "reopened" | "worse" | "reminder" | "closed" | "passed";

/** What there is to tell an audience of an incident now; undefined when it knows all. */
export function newsOf(
  incident: Pick<Incident, "closedAt" | "level">,
  last: IncidentReport | undefined,
  { now, remindAfterMs }: { readonly now: number; readonly remindAfterMs: number | undefined },
): IncidentNews | undefined {
  if (incident.closedAt !== null) {
    if (last === undefined) return "passed";
    return last.state === "closed" ? undefined : "closed";
  }
  if (last === undefined) return "opened";
  if (last.state === "closed") return "reopened";
  if (incident.level > last.level) return "worse";
  if (remindAfterMs === undefined) return undefined;
  // A report from the future was made by a clock that was ahead.
  const isDue = now - last.reportedAt >= remindAfterMs || last.reportedAt > now;
  return isDue ? "reminder" : undefined;
}

/** What an audience is told by that: what `newsOf` goes by from then on. */
export function reportedState(news: IncidentNews): IncidentReport["state"] {
  if (news === "closed" || news === "passed") return "closed";
  return news === "worse" ? "worse" : "open";
}
