/**
 * Hands uploads to the pipeline in groups while those of one company come thick and fast.
 *
 *   steady   at once                    until eight came within `dense.withinMs`
 *   dense    gathered, then together    when the pipeline has decided about all of the company and has rested for a part of
 *                                       the time that the last group took it; or when the first has waited `maxWaitMs`
 *   flood    the same, in larger groups when they are a thousand a second, or clients push: they begin each file as soon as
 *                                       the one before is answered
 *
 * The pipeline works on the same processors and the same disk as the uploads. Handed over one by one, a client that sends
 * thousands of small files would have each of its own syncs wait for several of the pipeline's, and the pipeline would
 * commit a handful of files at a time. So the uploads have some of the time for themselves, and groups are as large as what
 * comes meanwhile. How long that is depends on the pipeline: a few hundredths of a second while it is quick, more when it
 * or the disk is behind. Nobody waits for a gathered file: its close is answered when it is durable in its place, and its
 * final name stays reserved. A file that comes by another way, a folder or another node, has them handed over before it is in
 * line: it may be about the same stop, and be sent because they were answered.
 *
 * What survives a crash: start-up finds such a file like every other without a ledger entry.
 */
import type { Arrival, ArrivalSink, Inbox } from "../../inbound/places/inbox.ts";

/** Sixty files a second and more are dense. */
const dense = { count: 8, withinMs: 130 };
/** A thousand a second are no traffic: somebody pushes all that lies there, and what counts is when the last is through. */
const flood = { count: 160, withinMs: 155 };
/**
 * The same at any rate: clients begin a file as soon as the one before is answered. Each such file counts one up to the
 * most, each other one takes several back: in a flow with pauses, some files follow at once on one that was held up. What
 * comes after a turn without any file begins to count anew.
 */
const pushes = { enough: 48, most: 64, pause: 8 };
/** A flood lasts so long after each time that it was as dense: where processors are short, its files come more slowly. */
const floodHoldMs = 500;
/** How long the pipeline rests, as a part of the time that it took. More helps a burst a little, and all files wait for it. */
const restShare = 0.2;
/** Between two groups at least. With 45 files of a steady flow wait 10 ms more. */
const shortestTurnMs = 30;
/** The same in a flood: fewer and larger groups, which take less of the processors. */
const floodTurnMs = 120;
const maxWaitMs = 250;
/** How often a burst checks whether the pipeline is done. */
const checkMs = 5;

/** What groups need of the pipeline. */
export type GatheringInbox = Pick<Inbox, "arriveAll" | "undecidedCount">;

/** Whether the last `count` arrivals came within a time. */
class Density {
  readonly #withinMs: number;
  /** The oldest is at `#next`. */
  readonly #timesMs: number[];
  #next = 0;

  constructor({ count, withinMs }: { readonly count: number; readonly withinMs: number }) {
    this.#withinMs = withinMs;
    this.#timesMs = Array<number>(count).fill(Number.NEGATIVE_INFINITY);
  }

  note(nowMs: number): void {
    this.#timesMs[this.#next] = nowMs;
    this.#next = (this.#next + 1) % this.#timesMs.length;
  }

  isReachedAt(nowMs: number): boolean {
    return nowMs - (this.#timesMs[this.#next] ?? nowMs) < this.#withinMs;
  }
}

/** Whether clients begin each file as soon as the one before is answered. */
class Pushes {
  #count = 0;
  #lastAtMs = Number.NEGATIVE_INFINITY;

  get areEnough(): boolean {
    return this.#count >= pushes.enough;
  }

  note(isPushed: boolean, nowMs: number): void {
    if (nowMs - this.#lastAtMs > floodTurnMs) this.#count = 0;
    this.#lastAtMs = nowMs;
    this.#count = isPushed ? Math.min(pushes.most, this.#count + 1) : Math.max(0, this.#count - pushes.pause);
  }
}

/** The uploads of one company. */
class Burst {
  readonly #inbox: GatheringInbox;
  readonly #companyId: number;
  readonly #nowMs: () => number;
  #waiting: Arrival[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #dense = new Density(dense);
  readonly #flood = new Density(flood);
  readonly #pushes = new Pushes();
  #floodUntilMs = Number.NEGATIVE_INFINITY;
  #firstAtMs = 0;
  #handedAtMs = Number.NEGATIVE_INFINITY;
  /** When the pipeline had nothing to decide about after the last group, as far as it was checked. */
  #doneAtMs: number | undefined;

  constructor(inbox: GatheringInbox, companyId: number, nowMs: () => number) {
    this.#inbox = inbox;
    this.#companyId = companyId;
    this.#nowMs = nowMs;
  }

  arrive(arrival: Arrival, isPushed: boolean): void {
    const nowMs = this.#nowMs();
    if (this.#waiting.length === 0) this.#firstAtMs = nowMs;
    this.#waiting.push(arrival);
    const isDense = this.#dense.isReachedAt(nowMs);
    this.#dense.note(nowMs);
    this.#pushes.note(isPushed, nowMs);
    const isPush = this.#pushes.areEnough;
    if (isPush || this.#flood.isReachedAt(nowMs)) this.#floodUntilMs = nowMs + floodHoldMs;
    this.#flood.note(nowMs);
    if (isDense || isPush) this.#flushWhenDue();
    else this.flush();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    const arrivals = this.#waiting;
    this.#waiting = [];
    this.#handedAtMs = this.#nowMs();
    this.#doneAtMs = undefined;
    // What becomes of the files is in the ledger.
    void this.#inbox.arriveAll(arrivals);
  }

  #flushWhenDue(): void {
    const nowMs = this.#nowMs();
    const leftMs = this.#dueAtMs(nowMs) - nowMs;
    if (leftMs <= 0) {
      this.flush();
      return;
    }
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#flushWhenDue();
      },
      this.#doneAtMs === undefined ? Math.min(checkMs, leftMs) : leftMs,
    );
  }

  /** When the waiting files are to be handed over, as far as it is known. */
  #dueAtMs(nowMs: number): number {
    if (this.#inbox.undecidedCount(this.#companyId) === 0) this.#doneAtMs ??= nowMs;
    const latestMs = this.#firstAtMs + maxWaitMs;
    if (this.#doneAtMs === undefined) return latestMs;
    const restedAtMs = this.#doneAtMs + restShare * (this.#doneAtMs - this.#handedAtMs);
    const turnMs = nowMs < this.#floodUntilMs ? floodTurnMs : shortestTurnMs;
    return Math.min(latestMs, Math.max(restedAtMs, this.#handedAtMs + turnMs));
  }
}

/** Gathers what is to go to the pipeline. `nowMs` is a clock that only goes forward; tests put their own in. */
export function gatherArrivals(
  inbox: GatheringInbox,
  nowMs: () => number = () => performance.now(),
): Pick<ArrivalSink, "arrive" | "flush"> {
  // One company's burst delays no file of another.
  const bursts = new Map<number, Burst>();
  const burstOf = (companyId: number): Burst => {
    const known = bursts.get(companyId);
    if (known !== undefined) return known;
    const made = new Burst(inbox, companyId, nowMs);
    bursts.set(companyId, made);
    return made;
  };
  return {
    arrive: (arrival, isPushed = false) => burstOf(arrival.companyId).arrive(arrival, isPushed),
    flush(companyId) {
      const flushed = companyId === undefined ? bursts.values() : [bursts.get(companyId)];
      for (const burst of flushed) burst?.flush();
    },
  };
}
