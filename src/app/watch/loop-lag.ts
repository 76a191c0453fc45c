/**
 * How late the event loop is: a timer that is due ten times a second, and how long after that it runs. What holds up the
 * loop holds up every client.
 */
import { Histogram } from "../../lib/histogram.ts";

/** Seconds. */
export const loopLagBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const everyMs = 100;

export interface LoopLag {
  readonly lags: Histogram;
  stop(): void;
}

/** Watches from now on; keeps no process alive. */
export function startLoopLag(): LoopLag {
  const lags = new Histogram(loopLagBounds);
  let dueAt = performance.now() + everyMs;
  const measure = () => {
    const now = performance.now();
    lags.observe(Math.max(0, now - dueAt) / 1000);
    dueAt = now + everyMs;
  };
  const timer = setInterval(measure, everyMs).unref();
  return { lags, stop: () => clearInterval(timer) };
}
