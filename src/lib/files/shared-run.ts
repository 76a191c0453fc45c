/**
 * One run at a time of something that speaks for everybody who asked before it began: whoever asks while one runs gets the
 * next one, which is shared by all that wait. The outcome of a run belongs to those who asked for it.
 *
 *   idle ──asked──> gathering ──> running ──nobody waits──> idle
 *                       └── asked meanwhile: the same run      └── asked meanwhile: the next one
 *
 * `gather` resolves when the run is to begin. Without it the run begins at once.
 */
export function shareRuns(run: () => Promise<void>, gather?: () => Promise<void>): () => Promise<void> {
  let isRunning = false;
  let gathering: Promise<void> | undefined;
  let next: PromiseWithResolvers<void> | undefined;
  const work = async (): Promise<void> => {
    if (gather !== undefined) await gather();
    gathering = undefined;
    await run();
  };
  const begin = (): Promise<void> => {
    isRunning = true;
    const ended = work().finally(() => {
      isRunning = false;
      const waiting = next;
      next = undefined;
      // Begins before anybody else can ask.
      waiting?.resolve(begin());
    });
    if (gather !== undefined) gathering = ended;
    return ended;
  };
  return () => {
    if (gathering !== undefined) return gathering;
    if (!isRunning) return begin();
    next ??= Promise.withResolvers<void>();
    return next.promise;
  };
}
