import { reasonCodeOf } from "../../../lib/errors.ts";
import { countRefused, listRefused, type RefusedFile } from "../../../store/ledger/refused-files.ts";
import type { Detector } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";
import { levelOfMany } from "./finding-text.ts";
import { minuteMs } from "../../../lib/durations.ts";

const samples = 5;

function sampleOf({ name, faults: [first] }: RefusedFile): string {
  return first === undefined ? name : `${name}: ${reasonCodeOf(first.code)} ${first.message}`;
}

/** So many stop files of a company were refused within the time; all of them since the first are counted. */
export const detectRefusedFiles: Detector<"refusedFiles"> = async (scan) => {
  const { subject, settings, now, read, open } = scan;
  const companyId = subject.id;
  const window = { companyId, since: now - settings.withinMinutes * minuteMs };
  const lately = await countRefused(read, window);
  if (lately.count < settings.count) return [];
  const since = open.get("")?.openedAt ?? lately.first ?? now;
  const all = await countRefused(read, { companyId, since: Math.min(since, window.since) });
  const last = await listRefused(read, { ...window, limit: samples });
  const summary = `${counted(all.count, "stop file was", "stop files were")} refused`;
  const level = levelOfMany(lately.count, settings.count);
  return [{ cause: "", summary, since, count: all.count, level, samples: last.map(sampleOf) }];
};
