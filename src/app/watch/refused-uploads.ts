/** How many uploads were refused lately for want of room, from the counts since the start of the process. */
import type { NoRoom, RefusedUploads } from "../../exchange/uploads/intake.ts";
import { type RecentGrowth, watchGrowth } from "./recent-growth.ts";

/** For this reason, in this company; in all companies without it. */
export type RefusedUploadsOf = (lack: Pick<NoRoom, "reason" | "company">) => RecentGrowth;

export function countRefusedUploads(counts: () => readonly RefusedUploads[]): RefusedUploadsOf {
  const growths = new Map<string, RecentGrowth>();
  return ({ reason, company }) => {
    const isMeant = (one: RefusedUploads) =>
      one.reason === reason && (company === undefined || one.company === company);
    const sum = () =>
      counts()
        .filter(isMeant)
        .reduce((total, { count }) => total + count, 0);
    const key = `${reason} ${company ?? ""}`;
    const growth = growths.get(key) ?? watchGrowth(sum);
    growths.set(key, growth);
    return growth;
  };
}
