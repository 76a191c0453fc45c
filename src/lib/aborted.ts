/** Resolves when the signal is aborted, at once when it is already. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/**
 * The result of `work`, or the signal's reason as soon as it is aborted: for work that cannot be stopped amid a call. Its own
 * end is ignored then.
 */
export async function settledOrAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const left = Promise.withResolvers<never>();
  const abort = () => left.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, left.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
    // Neither rejects unheard: a race hears both.
    void work.catch(() => undefined);
  }
}
