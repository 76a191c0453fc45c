/**
 * One run at a time of something that speaks for everybody who asked before it began: whoever asks while one runs gets the
 * next one, which is shared by all that wait. The outcome of a run belongs to those who asked for it.
 */
export function shareRuns(run: () => Promise<void>): () => Promise<void> {
  let isRunning = false;
  let next: PromiseWithResolvers<void> | undefined;
  const begin = async (): Promise<void> => {
    isRunning = true;
    try {
      await run();
    } finally {
      isRunning = false;
      const waiting = next;
      next = undefined;
      // Begins before anybody else can ask.
      waiting?.resolve(begin());
    }
  };
  return () => {
    if (!isRunning) return begin();
    next ??= Promise.withResolvers<void>();
    return next.promise;
  };
}
