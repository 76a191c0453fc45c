/** Work that is done again and again while the daemon runs, one round after the other. */
export interface Rounds {
  /** Does a round now, or as soon as the one in hand has ended. */
  run(): Promise<void>;
  /** Ends the rounds; resolves when the one in hand has ended, which the signal of `work` asks for. */
  stop(): Promise<void>;
}

/** Starts the rounds. Without `firstAfterMs` the first one comes after `everyMs`. `work` must not reject. */
export function startRounds(
  work: (stopping: AbortSignal) => Promise<void>,
  { everyMs, firstAfterMs = everyMs }: { readonly everyMs: number; readonly firstAfterMs?: number },
): Rounds {
  const stopping = new AbortController();
  let running = Promise.resolve();
  const run = () => {
    running = running.then(() => work(stopping.signal));
    return running;
  };
  const timers = [setInterval(() => void run(), everyMs)];
  if (firstAfterMs !== everyMs) timers.push(setTimeout(() => void run(), firstAfterMs));
  for (const timer of timers) timer.unref();
  return {
    run,
    async stop() {
      for (const timer of timers) clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
