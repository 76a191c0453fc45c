import { reasonCodeOf } from "../../../lib/errors.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import {
  countRefused,
  listRefused,
  type RefusedFile,
  type RefusedSince,
} from "../../../store/ledger/refused-files.ts";
import type { Detector, Scan } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";
import { minuteMs } from "../../../lib/durations.ts";
import { levelOfMany, sinceOption } from "./finding-text.ts";

const newest = 4;

function sampleOf({ name, decidedAt, faults: [first] }: RefusedFile): string {
  const why = first === undefined ? "" : `: ${reasonCodeOf(first.code)} ${first.message}`;
  return `${isoTime(decidedAt)} ${name}${why}`;
}

/** The first one, with which it began, and the newest; the oldest first. */
async function samplesOf({ read }: Scan, all: RefusedSince, count: number): Promise<readonly string[]> {
  const [first] = await listRefused(read, { ...all, from: "first", limit: 1 });
  const last = await listRefused(read, { ...all, from: "last", limit: Math.min(newest, count - 1) });
  return [...(first === undefined ? [] : [first]), ...last.toReversed()].map(sampleOf);
}

/** So many stop files of a company were refused within the time; all of them since the first are counted. */
export const detectRefusedFiles: Detector<"refusedFiles"> = async (scan) => {
  const { subject, settings, now, read, open } = scan;
  const companyId = subject.id;
  const window = { companyId, since: now - settings.withinMinutes * minuteMs };
  const lately = await countRefused(read, window);
  if (lately.count < settings.count) return [];
  const since = open.get("")?.openedAt ?? lately.first ?? now;
  const all = { companyId, since: Math.min(since, window.since) };
  const { count } = await countRefused(read, all);
  const list = `dropgate files --company ${subject.code} --state refused ${sinceOption(since)}`;
  return [
    {
      ...{ cause: "", since, count },
      summary: `${counted(count, "stop file was", "stop files were")} refused`,
      level: levelOfMany(lately.count, settings.count),
      samples: await samplesOf(scan, all, count),
      remedy:
        `\`${list}\` lists them with their reasons, \`dropgate file show ID\` shows one; when the host has corrected its ` +
        "data it sends the file again, and what was refused by mistake is taken by `dropgate file retry ID`",
    },
  ];
};
