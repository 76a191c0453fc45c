/**
 * Hands uploads to the pipeline in groups while they come thick and fast.
 *
 *   steady   at once                    until `maxSteady` came with less than `apartMs` between them
 *   dense    gathered, then together    when `groupSize` wait, none came for `quietMs`, or the first waited `maxWaitMs`
 *
 * The pipeline commits and syncs once for all files that arrive at the same moment. Handed over one by one, a client that
 * sends thousands of small files would have each of its own syncs wait for several of the pipeline's. Nobody waits for a
 * gathered file: its close is answered when it lies durably under its final name, which stays reserved. What survives a
 * crash: start-up finds such a file like every other without a ledger entry.
 */
import type { Arrival, Inbox } from "../inbound/inbox.ts";

const maxSteady = 8;
const apartMs = 30;
const groupSize = 64;
const quietMs = 15;
const maxWaitMs = 250;

type ExchangeInbox = Pick<Inbox, "reserve" | "release" | "arrive" | "waitingCount">;

export interface GatheredArrivals extends ExchangeInbox {
  /** Hands over what waits. */
  flush(): void;
}

class Gathering implements GatheredArrivals {
  readonly #inbox: ExchangeInbox;
  readonly #nowMs: () => number;
  #waiting: Arrival[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Arrivals so far that followed one another closely. */
  #dense = 0;
  #firstAtMs = 0;
  #lastAtMs = Number.NEGATIVE_INFINITY;

  constructor(inbox: ExchangeInbox, nowMs: () => number) {
    this.#inbox = inbox;
    this.#nowMs = nowMs;
  }

  reserve(path: string): void {
    this.#inbox.reserve(path);
  }

  release(path: string): void {
    this.#inbox.release(path);
  }

  waitingCount(companyId: number): number {
    const gathered = this.#waiting.filter((arrival) => arrival.companyId === companyId);
    return this.#inbox.waitingCount(companyId) + gathered.length;
  }

  arrive(arrival: Arrival): void {
    const nowMs = this.#nowMs();
    this.#dense = nowMs - this.#lastAtMs < apartMs ? this.#dense + 1 : 0;
    this.#lastAtMs = nowMs;
    if (this.#waiting.length === 0) this.#firstAtMs = nowMs;
    this.#waiting.push(arrival);
    if (this.#dense < maxSteady || this.#waiting.length >= groupSize) this.flush();
    else this.#timer ??= setTimeout(() => this.#look(), quietMs);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const arrivals = this.#waiting;
    this.#waiting = [];
    for (const arrival of arrivals) this.#inbox.arrive(arrival);
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

/** `nowMs` is a clock that only goes forward; tests put their own in. */
export function gatherArrivals(
  inbox: ExchangeInbox,
  nowMs: () => number = () => performance.now(),
): GatheredArrivals {
  return new Gathering(inbox, nowMs);
}
