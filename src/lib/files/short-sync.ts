/**
 * fsync of folders and short files: on the spot while the disk answers at once, else in the thread pool.
 *
 *   pool     until `trusted` syncs more were quick than not
 *   spot     until one takes `slowMs`, or too many are not quick
 *
 * The way to the pool and back costs about as much as the sync of a quick disk, and a client waits for both. A disk that
 * takes its time must not hold up everybody else, so it is asked from the pool.
 */
const quickMs = 1;
const slowMs = 5;
const trusted = 32;
const mostTrust = 256;
/** What one sync that is not quick costs: more than one in nine of them, and the pool is used. */
const lostTrust = 8;

/** fsync in both ways. */
export interface ShortSyncCalls {
  /** In the thread pool. */
  fsync(fd: number): Promise<void>;
  /** Without the thread pool: holds up everything else meanwhile. */
  fsyncNow(fd: number): void;
}

class ShortSync {
  readonly #disk: ShortSyncCalls;
  readonly #nowMs: () => number;
  #trust = 0;
  /** In the pool just now: others wait for the disk, and would wait for us as well. */
  #running = 0;

  constructor(disk: ShortSyncCalls, nowMs: () => number) {
    this.#disk = disk;
    this.#nowMs = nowMs;
  }

  async sync(fd: number): Promise<void> {
    const begunMs = this.#nowMs();
    if (this.#trust >= trusted && this.#running === 0) this.#disk.fsyncNow(fd);
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

/** Makes a sync with a memory of its own. `nowMs` is a clock that only goes forward; tests put their own in. */
export function createShortSync(
  disk: ShortSyncCalls,
  nowMs: () => number = () => performance.now(),
): (fd: number) => Promise<void> {
  const short = new ShortSync(disk, nowMs);
  return (fd) => short.sync(fd);
}

const syncs = new WeakMap<ShortSyncCalls, (fd: number) => Promise<void>>();

/** Syncs an open folder or short file; rejects with the fault of the system. */
export function syncShort(disk: ShortSyncCalls, fd: number): Promise<void> {
  const known = syncs.get(disk);
  if (known !== undefined) return known(fd);
  const made = createShortSync(disk);
  syncs.set(disk, made);
  return made(fd);
}
