/**
 * fsync of folders and short files: on the calling thread while the disk answers at once, else in the thread pool.
 *
 *     pool     until there were `trusted` more quick syncs than slow ones
 *     inline   until one takes `slowMs`, or too many are not quick
 *
 * The way to the pool and back costs about as much as the sync of a quick disk, and a client waits for both. A slow
 * disk must not block everybody else, so its syncs go to the pool. So do those of storage that may be slow at any moment.
 */
import { mayShortCallsWait } from "./short-calls.ts";

const quickMs = 1;
const slowMs = 5;
const trusted = 32;
const mostTrust = 256;
/** What one sync that is not quick costs: with more than one in nine of them, the pool is used. */
const lostTrust = 8;

/** The two ways of fsync. */
export interface SyncCalls {
  /** In the thread pool. */
  fsync(fd: number): Promise<void>;
  /** On the calling thread, which it blocks. */
  fsyncNow(fd: number): void;
}

class AdaptiveSync {
  readonly #disk: SyncCalls;
  readonly #nowMs: () => number;
  #trust = 0;
  /** In the pool at this moment: others wait for the disk, and would have to wait for this thread as well. */
  #running = 0;

  constructor(disk: SyncCalls, nowMs: () => number) {
    this.#disk = disk;
    this.#nowMs = nowMs;
  }

  async sync(fd: number): Promise<void> {
    const begunMs = this.#nowMs();
    const isQuick = this.#trust >= trusted && this.#running === 0 && !mayShortCallsWait();
    if (isQuick) this.#disk.fsyncNow(fd);
    else await this.#inPool(fd);
    this.#learn(this.#nowMs() - begunMs);
  }

  async #inPool(fd: number): Promise<void> {
    this.#running += 1;
    try {
      await this.#disk.fsync(fd);
    } finally {
      this.#running -= 1;
    }
  }

  #learn(ms: number): void {
    if (ms >= slowMs) this.#trust = 0;
    else if (ms >= quickMs) this.#trust = Math.max(0, this.#trust - lostTrust);
    else this.#trust = Math.min(mostTrust, this.#trust + 1);
  }
}

/** Makes a sync with a history of its own. `nowMs` is a monotonic clock; tests put their own in. */
export function createAdaptiveSync(
  disk: SyncCalls,
  nowMs: () => number = () => performance.now(),
): (fd: number) => Promise<void> {
  const short = new AdaptiveSync(disk, nowMs);
  return (fd) => short.sync(fd);
}

const syncs = new WeakMap<SyncCalls, (fd: number) => Promise<void>>();

/** Syncs an open folder or short file; rejects with the fault of the system. */
export function syncAdaptively(disk: SyncCalls, fd: number): Promise<void> {
  const known = syncs.get(disk);
  if (known !== undefined) return known(fd);
  const made = createAdaptiveSync(disk);
  syncs.set(disk, made);
  return made(fd);
}
