import { isoTime } from "../../lib/iso-time.ts";
import { counted } from "../../lib/counted.ts";

/** What a ledger entry says of bytes that were removed because of their age. */
export interface PrunedBytes {
  /** Milliseconds UTC. */
  readonly removedAt: number | null;
  readonly prunedDays: number | null;
  readonly prunedTo: string | null;
}

/** When that was, for which age, and where they are now; undefined when it was not so. */
export function prunedTextOf({ removedAt, prunedDays, prunedTo }: PrunedBytes): string | undefined {
  if (removedAt === null || prunedDays === null) return undefined;
  const days = counted(prunedDays, "day");
  const to = prunedTo === null ? "" : `, moved to ${prunedTo}`;
  return `pruned on ${isoTime(removedAt).slice(0, 10)} by the retention of ${days}${to}`;
}

/** Entries of a company that were removed because of their age; times are milliseconds UTC. */
export interface ForgottenEntries {
  readonly company: string;
  /** The newest decision among them. */
  readonly decidedUntil: number;
  /** When the last of them was removed, and for which age. */
  readonly prunedAt: number;
  readonly prunedDays: number;
}

/** Until when entries were removed, the last of them when, and for which age. */
export function forgottenText({ company, decidedUntil, prunedAt, prunedDays }: ForgottenEntries): string {
  return `ledger entries of company ${company} that were decided until ${isoTime(decidedUntil)} were removed by the retention of ${counted(prunedDays, "day")}, the last on ${isoTime(prunedAt).slice(0, 10)}`;
}
