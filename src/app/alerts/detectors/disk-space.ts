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
  const summary = isBelowMinFree
    ? `${sizeText(freeBytes)} are free on the disk, less than the ${sizeText(minFreeBytes)} that uploads need`
    : `${sizeText(freeBytes)} are free on the disk; uploads are refused below ${sizeText(minFreeBytes)}`;
  return [{ cause: "", summary, count: 1, level: isBelowMinFree ? belowMinFree : 1, samples: [] }];
};
