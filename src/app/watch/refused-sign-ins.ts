/** How many sign-ins were refused lately, from the counts since the start of the process. */
import type { SignInStatistics } from "../../sign-in/sign-in-statistics.ts";
import { type RecentGrowth, watchGrowth } from "./recent-growth.ts";

export function countRefusedSignIns(statistics: () => Pick<SignInStatistics, "signIns">): RecentGrowth {
  return watchGrowth(() =>
    Object.values(statistics().signIns).reduce(
      (sum, { refused, turned_away: turnedAway }) => sum + refused + turnedAway,
      0,
    ),
  );
}
