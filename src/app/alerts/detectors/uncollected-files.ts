import { outboundSettingsOf } from "../../../config/company-settings.ts";
import { given } from "../../../lib/given.ts";
import type { Detector } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";

/** Files lie in a company's `outbound/` longer than they may, as the last scan of the folder has found. */
export const detectUncollectedFiles: Detector<"uncollectedFiles"> = async ({ subject, sources, open }) => {
  const { collectWithinHours: hours } = outboundSettingsOf(sources.config(), subject.code);
  const found = hours === 0 ? undefined : sources.collectionWatch.uncollectedOf(subject.code);
  // Nothing is known before the first scan, and its folder may be away for long: what is open stays as it is.
  if (found === undefined) return hours === 0 ? [] : [...open.values()];
  if (found.count === 0) return [];
  const were = counted(found.count, "file in outbound/ was", "files in outbound/ were");
  const summary = `${were} not collected within ${counted(hours, "hour")}`;
  const { count, since, names: samples } = found;
  const remedy =
    `ask whoever runs the host why it does not fetch them: \`dropgate deliveries --company ${subject.code} --channel ` +
    "folder` shows what was collected, when and by whom";
  return [{ cause: "", summary, count, samples, remedy, ...given({ since }) }];
};
