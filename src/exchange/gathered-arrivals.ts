/**
 * Hands uploads to the pipeline in groups while those of one company come thick and fast.
 *
 *   steady   at once                    until `denseCount` came within `denseMs`
 *   dense    gathered, then together    when `groupSize` wait, none came for `quietMs`, or the first waited `maxWaitMs`
 *
 * The pipeline works on the same processors and the same disk as the uploads. Handed over one by one, a client that sends
 * thousands of small files would have each of its own syncs wait for several of the pipeline's, and the pipeline would
 * commit a handful of files at a time; gathered, the files are taken in fast, sorted by their names and applied in full
 * groups. Nobody waits for a gathered file: its close is answered when it is durable in its place, and its final name stays
 * reserved. What survives a crash: start-up finds such a file like every other without a ledger entry.
 */
import type { Arrival, Inbox } from "../inbound/inbox.ts";
import type { PlacementInbox } from "../inbound/place-arrival.ts";

/** Sixty files a second and more are dense. */
const denseCount = 8;
const denseMs = 130;
const groupSize = 4_000;
/** Longer than the disk makes one close wait now and then. */
const quietMs = 60;
const maxWaitMs = 5_000;

type ExchangeInbox = Pick<Inbox, "reserve" | "release" | "arriveAll" | "waitingCount">;

export interface GatheredArrivals extends PlacementInbox, Pick<Inbox, "waitingCount"> {
  /** Hands over what waits. */
  flush(): void;
}

export interface GatherOptions {
  /** A clock that only goes forward; tests put their own in. */
  readonly nowMs?: () => number;
}

/** The uploads of one company. */
class Burst {
  readonly #handOver: (arrivals: readonly Arrival[]) => void;
  readonly #nowMs: () => number;
  #waiting: Arrival[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** When the last `denseCount` arrivals came, the oldest first. */
  readonly #recentMs: number[] = [];
  #firstAtMs = 0;
  #lastAtMs = 0;

  constructor(handOver: (arrivals: readonly Arrival[]) => void, nowMs: () => number) {
    this.#handOver = handOver;
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#waiting.length;
  }

  arrive(arrival: Arrival): void {
    const nowMs = this.#nowMs();
    this.#lastAtMs = nowMs;
    if (this.#waiting.length === 0) this.#firstAtMs = nowMs;
    this.#waiting.push(arrival);
    if (!this.#isDenseAt(nowMs) || this.#waiting.length >= groupSize) this.flush();
    else this.#timer ??= setTimeout(() => this.#look(), quietMs);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const arrivals = this.#waiting;
    this.#waiting = [];
    if (arrivals.length > 0) this.#handOver(arrivals);
  }

  #isDenseAt(nowMs: number): boolean {
    const oldestMs = this.#recentMs.length === denseCount ? this.#recentMs.shift() : undefined;
    this.#recentMs.push(nowMs);
    return oldestMs !== undefined && nowMs - oldestMs < denseMs;
  }

  #look(): void {
    this.#timer = undefined;
    const dueAtMs = Math.min(this.#lastAtMs + quietMs, this.#firstAtMs + maxWaitMs);
    const leftMs = dueAtMs - this.#nowMs();
    // A timer may go off a little early.
    if (leftMs < 1) this.flush();
    else this.#timer = setTimeout(() => this.#look(), leftMs);
  }
}

/** Gathers what is to go to the inbox. */
export function gatherArrivals(inbox: ExchangeInbox, options: GatherOptions = {}): GatheredArrivals {
  // One host's burst keeps nobody else's file waiting.
  const bursts = new Map<number, Burst>();
  const nowMs = options.nowMs ?? (() => performance.now());
  const burstOf = (companyId: number): Burst => {
    const known = bursts.get(companyId);
    if (known !== undefined) return known;
    // What becomes of the files is in the ledger.
    const made = new Burst((arrivals) => void inbox.arriveAll(arrivals), nowMs);
    bursts.set(companyId, made);
    return made;
  };
  return {
    reserve: (path) => inbox.reserve(path),
    release: (path) => inbox.release(path),
    waitingCount: (companyId) => inbox.waitingCount(companyId) + (bursts.get(companyId)?.size ?? 0),
    arrive: (arrival) => burstOf(arrival.companyId).arrive(arrival),
    flush() {
      for (const burst of bursts.values()) burst.flush();
    },
  };
}
