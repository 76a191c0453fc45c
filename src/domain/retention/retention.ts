/** What is kept for a time, and how long: the kinds, and how an age becomes a moment. */
import { dayMs } from "../../lib/durations.ts";

/** Everything that can be removed by its age. Each kind has one setting and one pruner. */
export const retentionKinds = [
  "archive",
  "error",
  "receipts",
  "ledger",
  "outbound",
  "messages",
  "events",
  "positions",
  "documents",
  "imports",
  "appointments",
  "audit",
] as const;

export type RetentionKind = (typeof retentionKinds)[number];

/** Days, or for ever. */
export type Age = number | "keep";

export type Ages = Readonly<Record<RetentionKind, Age>>;

/** What was over before this moment (milliseconds UTC) is too old; undefined when nothing ever is. */
export function oldBefore(age: Age, now: number): number | undefined {
  return age === "keep" ? undefined : now - age * dayMs;
}

/** The longest of the ages; 1 when there is none. */
export function longestOf(ages: readonly Age[]): Age {
  return ages.some((age) => age === "keep") ? "keep" : Math.max(1, ...ages.filter((age) => age !== "keep"));
}

/** Whether something of the first age may be gone while something of the second is still there. */
export function isShorter(age: Age, other: Age): boolean {
  return age !== "keep" && (other === "keep" || age < other);
}
