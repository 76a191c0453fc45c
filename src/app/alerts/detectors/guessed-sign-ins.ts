import type { Detector } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";
import { minuteMs } from "../../../lib/durations.ts";

/** Many addresses are banned, or many sign-ins were refused within the time. */
export const detectGuessedSignIns: Detector<"bruteForce"> = async ({ settings, now, sources }) => {
  const { active } = sources.signIn.statistics().bans;
  const refused = sources.refusedSignIns(now, settings.withinMinutes * minuteMs);
  if (active < settings.bans && refused < settings.failures) return [];
  const banned = `${counted(active, "address is", "addresses are")} banned`;
  const failed = `${counted(refused, "sign-in was", "sign-ins were")} refused within ${counted(settings.withinMinutes, "minute")}`;
  return [{ cause: "", summary: `${failed}, and ${banned}`, count: refused, samples: [] }];
};
