/** Has the growth of the state measured without anybody asking: soon after the start, and then some times a day. */
import { hourMs, minuteMs } from "../../../lib/durations.ts";
import { type Rounds, startRounds } from "../../../lib/rounds.ts";
import type { HealthJob } from "./health-job.ts";

/** When the start has settled; a state grows by days, so that hours are often enough. */
const usualTimes = { firstAfterMs: 2 * minuteMs, everyMs: 6 * hourMs };

/** One that is still under way is not begun again. */
export function startGrowthRounds(
  job: Pick<HealthJob<unknown>, "begin">,
  times: Parameters<typeof startRounds>[1] = usualTimes,
): Rounds {
  return startRounds(async () => job.begin(), times);
}
