import { outboundSettingsOf } from "../../../config/company-settings.ts";
import { given } from "../../../lib/given.ts";
import type { Detector } from "../detector.ts";
import { counted } from "./counted.ts";

/** Files lie in a company's `outbound/` longer than they may, as the last scan of the folder has found. */
export const detectUncollectedFiles: Detector<"uncollectedFiles"> = async ({ subject, sources }) => {
  const found = sources.collectionWatch.uncollectedOf(subject.code);
  if (found === undefined || found.count === 0) return [];
  const { collectWithinHours: hours } = outboundSettingsOf(sources.config(), subject.code);
  const were = counted(found.count, "file in outbound/ was", "files in outbound/ were");
  const summary = `${were} not collected within ${counted(hours, "hour", "hours")}`;
  const { count, since, names: samples } = found;
  return [{ cause: "", summary, count, samples, ...given({ since }) }];
};
