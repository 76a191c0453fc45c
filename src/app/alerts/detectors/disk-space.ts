import { sizeText } from "../../../lib/size-text.ts";
import type { Detector } from "../detector.ts";

const belowMinFree = 2;

/** Less is free than a bound, or even less than uploads are refused at. */
export const detectDiskSpace: Detector<"diskSpace"> = async ({ settings, sources }) => {
  const { freeBytes, minFreeBytes, diskBytes } = await sources.intake.space.room();
  const { belowPercent, belowMegabytes } = settings;
  const bound = Math.min((diskBytes * belowPercent) / 100, belowMegabytes * 1_000_000);
  const isBelowMinFree = freeBytes < minFreeBytes;
  if (freeBytes >= bound && !isBelowMinFree) return [];
  const { stateDir } = sources.config();
  const free = `${sizeText(freeBytes)} of ${sizeText(diskBytes)} are free on the disk of ${stateDir}`;
  const summary = isBelowMinFree
    ? `${free}, less than the ${sizeText(minFreeBytes)} that uploads need: they are refused`
    : `${free}; uploads are refused below ${sizeText(minFreeBytes)}`;
  const remedy =
    `make room on the disk of ${stateDir}, or give it more: \`dropgate check\` says what grows and when it is full, and ` +
    "the section `retention` of the configuration says what is kept for how long";
  return [{ cause: "", summary, count: 1, level: isBelowMinFree ? belowMinFree : 1, samples: [], remedy }];
};
