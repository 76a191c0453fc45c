/**
 * Where calls of the system are made that hardly ever wait for a disk: on the calling thread, because the way to the thread pool
 * and back costs several times as much as the call itself. On storage of other machines each of them may take seconds, in which
 * this thread would do nothing at all, and go to the pool as the long ones do.
 */

let mayWait = false;

/** Whether short calls may take seconds. */
export function mayShortCallsWait(): boolean {
  return mayWait;
}

/** To be said when the files of the process lie on storage of other machines; for this thread from then on. */
export function setShortCallsMayWait(may: boolean): void {
  mayWait = may;
}

/** Makes a short call: `now` on the calling thread, or `inPool`. */
export function shortCall<T>(now: () => T, inPool: () => Promise<T>): Promise<T> {
  return mayWait ? inPool() : new Promise((resolve) => resolve(now()));
}
