/**
 * System calls that have not come back. A share whose server is gone answers none, and each keeps one of the few threads that
 * the whole process has for files; so no attempt follows one that was given up amid such a call.
 */
import type { FolderDisk } from "./folder-disk.ts";

/** Calls of attempts that go on come back within this. */
const graceMs = 1_000;

export class PendingCalls {
  readonly #calls = new Set<Promise<unknown>>();
  readonly #left = new Set<Promise<unknown>>();

  track<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    const back = () => {
      this.#calls.delete(call);
      this.#left.delete(call);
    };
    void call.then(back, back);
    return call;
  }

  /** An attempt is given up: from now on it matters whether the calls that are under way come back. */
  leave(): void {
    for (const call of this.#calls) this.#left.add(call);
  }

  /** Whether a call that was left does not come back, now or in a moment. */
  async areStuck(signal: AbortSignal): Promise<boolean> {
    if (this.#left.size === 0) return false;
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, graceMs);
    signal.addEventListener("abort", () => resolve(), { once: true });
    await Promise.race([Promise.allSettled(this.#left), isOver]);
    clearTimeout(timer);
    return this.#left.size > 0;
  }
}

async function* watchEntries<T>(entries: AsyncIterable<T>, pending: PendingCalls): AsyncIterable<T> {
  const iterator = entries[Symbol.asyncIterator]();
  for (;;) {
    const next = await pending.track(iterator.next());
    if (next.done === true) return;
    yield next.value;
  }
}

/** The same calls, each of them watched. */
export function watchDisk(disk: FolderDisk, pending: PendingCalls): FolderDisk {
  return {
    open: (...given) => pending.track(disk.open(...given)),
    close: (...given) => pending.track(disk.close(...given)),
    write: (...given) => pending.track(disk.write(...given)),
    read: (...given) => pending.track(disk.read(...given)),
    fstat: (...given) => pending.track(disk.fstat(...given)),
    lstat: (...given) => pending.track(disk.lstat(...given)),
    link: (...given) => pending.track(disk.link(...given)),
    unlink: (...given) => pending.track(disk.unlink(...given)),
    sync: (...given) => pending.track(disk.sync(...given)),
    entries: async (path) => watchEntries(await pending.track(disk.entries(path)), pending),
    isMountPoint: (...given) => pending.track(disk.isMountPoint(...given)),
    mkdir: (...given) => pending.track(disk.mkdir(...given)),
    rename: (...given) => pending.track(disk.rename(...given)),
  };
}
