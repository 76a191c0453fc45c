/**
 * How far the JavaScript heap may grow before garbage is collected: a quarter of what lives in it, and 32 MB at least.
 *
 * The launcher asks for the quarter, which bounds the memory of a process with a large backlog. V8 counts the memory of
 * buffers as well; with 20 MB of living objects it would collect garbage every few megabytes of a large upload, and spend
 * a third of the time on that.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";

const leastPercent = 25;
const leastGrowthBytes = 32 * 1024 * 1024;
const intervalMs = 1_000;
/** Below this a change is not worth it. */
const stepPercent = 10;

/** By how many percent a heap may grow in which so many bytes are used. */
export function growthPercentFor(usedBytes: number): number {
  return Math.max(leastPercent, Math.round((100 * leastGrowthBytes) / Math.max(1, usedBytes)));
}

/** Keeps the limit of this process up to date until `stop` is called. Does not keep the process alive. */
export function steerHeapGrowth(): { stop(): void } {
  let percent = leastPercent;
  const steer = (): void => {
    const wanted = growthPercentFor(getHeapStatistics().used_heap_size);
    if (Math.abs(wanted - percent) < stepPercent) return;
    percent = wanted;
    setFlagsFromString(`--heap-growing-percent=${percent}`);
  };
  steer();
  const timer = setInterval(steer, intervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
