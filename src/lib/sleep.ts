/** Waiting that an abort ends. */

/** Resolves after so many milliseconds, or at once when it is aborted. A timer may be early by a part of a millisecond. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}

/** Resolves when so many milliseconds have passed by `performance.now()`, never earlier, or at once when it is aborted. */
export async function sleepAtLeast(ms: number, signal: AbortSignal): Promise<void> {
  const untilMs = performance.now() + ms;
  for (let leftMs = ms; leftMs > 0 && !signal.aborted; leftMs = untilMs - performance.now()) {
    await sleep(Math.ceil(leftMs), signal);
  }
}
