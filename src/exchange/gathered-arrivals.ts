/**
 * Hands uploads to the pipeline in groups while those of one company come thick and fast.
 *
 *   steady   at once                    until `denseCount` came within `denseMs`
 *   dense    gathered, then together    when `groupSize` wait, none came for `quietMs`, or the first waited `maxWaitMs`
 *
 * The pipeline works on the same processors and the same disk as the uploads. Handed over one by one, a client that sends
 * thousands of small files would have each of its own syncs wait for several of the pipeline's, and the pipeline would
 * commit a handful of files at a time; gathered, the files are taken in fast, sorted by their names and applied in full
 * groups. Nobody waits for a gathered file: its close is answered when it is durable, in its place or in the journal of
 * uploads, and its final name stays reserved. A group is handed over when nothing of it is in the journal any more, and
 * after the group before it. What survives a crash: start-up finds such a file in the journal, or like every other without
 * a ledger entry.
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
  /** The file lies under its final name, and is durable in the journal of uploads only. */
  arriveJournaled(arrival: Arrival): void;
  /** Whether uploads of the company come thick and fast just now, so that the next one will be gathered. */
  isBurst(companyId: number): boolean;
  /** Hands over what waits, and resolves when that is done. */
  flush(): Promise<void>;
}

export interface GatherOptions {
  /** Makes durable what was placed before the call. Rejects when it will not come to that in this run. */
  readonly settle: () => Promise<void>;
  /** A clock that only goes forward; tests put their own in. */
  readonly nowMs?: () => number;
}

/** The uploads of one company. */
class Burst {
  readonly #handOver: (arrivals: readonly Arrival[]) => void;
  readonly #settle: () => Promise<void>;
  readonly #nowMs: () => number;
  #waiting: Arrival[] = [];
  #hasJournaled = false;
  /** A group stays for the next start: what is behind it must not overtake it. */
  #isHeldBack = false;
  /** Groups that are being settled, one after the other. */
  #settling: Promise<void> | undefined;
  #settlingCount = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When the last `denseCount` arrivals came, the oldest first. */
  readonly #recentMs: number[] = [];
  #wasDense = false;
  #firstAtMs = 0;
  #lastAtMs = Number.NEGATIVE_INFINITY;

  constructor(handOver: (arrivals: readonly Arrival[]) => void, options: Required<GatherOptions>) {
    this.#handOver = handOver;
    this.#settle = options.settle;
    this.#nowMs = options.nowMs;
  }

  get size(): number {
    return this.#waiting.length + this.#settlingCount;
  }

  get isDense(): boolean {
    return this.#wasDense && this.#nowMs() - this.#lastAtMs < quietMs;
  }

  arrive(arrival: Arrival, isJournaled: boolean): void {
    const nowMs = this.#nowMs();
    this.#lastAtMs = nowMs;
    if (this.#waiting.length === 0) this.#firstAtMs = nowMs;
    this.#waiting.push(arrival);
    this.#hasJournaled ||= isJournaled;
    this.#wasDense = this.#isDenseAt(nowMs);
    if (!this.#wasDense || this.#waiting.length >= groupSize) void this.flush();
    else this.#timer ??= setTimeout(() => this.#look(), quietMs);
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [arrivals, hasJournaled] = [this.#waiting, this.#hasJournaled];
    this.#waiting = [];
    this.#hasJournaled = false;
    if (arrivals.length > 0) {
      if (hasJournaled || this.#settling !== undefined || this.#isHeldBack)
        this.#handOverLater(arrivals, hasJournaled);
      else this.#handOver(arrivals);
    }
    await this.#settling;
  }

  #handOverLater(arrivals: readonly Arrival[], hasJournaled: boolean): void {
    this.#settlingCount += arrivals.length;
    const settled = this.#handOverSettled(this.#settling, arrivals, hasJournaled).finally(() => {
      this.#settlingCount -= arrivals.length;
      if (this.#settling === settled) this.#settling = undefined;
    });
    this.#settling = settled;
  }

  async #handOverSettled(
    before: Promise<void> | undefined,
    arrivals: readonly Arrival[],
    hasJournaled: boolean,
  ): Promise<void> {
    await before;
    // Told in the log there; the files stay where they are, for the next start.
    if (hasJournaled && !(await this.#settle().then(isTrue, isFalse))) this.#isHeldBack = true;
    if (!this.#isHeldBack) this.#handOver(arrivals);
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
    if (leftMs < 1) void this.flush();
    else this.#timer = setTimeout(() => this.#look(), leftMs);
  }
}

const isTrue = (): boolean => true;
const isFalse = (): boolean => false;

/** Gathers what is to go to the inbox. */
export function gatherArrivals(inbox: ExchangeInbox, options: GatherOptions): GatheredArrivals {
  // One host's burst keeps nobody else's file waiting.
  const bursts = new Map<number, Burst>();
  const burstOf = (companyId: number): Burst => {
    const known = bursts.get(companyId);
    if (known !== undefined) return known;
    // What becomes of the files is in the ledger.
    const made = new Burst((arrivals) => void inbox.arriveAll(arrivals), {
      nowMs: () => performance.now(),
      ...options,
    });
    bursts.set(companyId, made);
    return made;
  };
  return {
    reserve: (path) => inbox.reserve(path),
    release: (path) => inbox.release(path),
    waitingCount: (companyId) => inbox.waitingCount(companyId) + (bursts.get(companyId)?.size ?? 0),
    arrive: (arrival) => burstOf(arrival.companyId).arrive(arrival, false),
    arriveJournaled: (arrival) => burstOf(arrival.companyId).arrive(arrival, true),
    isBurst: (companyId) => bursts.get(companyId)?.isDense ?? false,
    async flush() {
      await Promise.all([...bursts.values()].map((burst) => burst.flush()));
    },
  };
}
