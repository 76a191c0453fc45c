/**
 * Bounds the bytes of large bodies in work at the same time. A body takes several times its size while it is parsed, checked
 * and stored, so their sum decides how much memory the process needs.
 *
 *   waiting (its body unread: the client's socket is full) ─ in order of arrival ─> in work ─ answered, or gone ─> free
 *           └ gone, or out of time, or too many wait already, or the stop ─> refused
 */
import type { HttpOptions } from "./http-options.ts";
import { ClientGone, HttpRefusal, retryAfter } from "./http-refusal.ts";

/**
 * Bodies up to this size do not count: `http.maxRequestsInFlight` bounds them, and big imports must not block them.
 */
export const uncountedBodyBytes = 65_536;

const retryAfterMs = 5_000;

type BudgetLimits = Pick<HttpOptions, "maxBodyBytes" | "maxBodyBytesInWork" | "maxRequestsInFlight">;

/** What one request holds of the budget. */
export interface BodyShare {
  /** Returns the part that the body does not need. */
  reduceTo(bytes: number): void;
  /** Returns all of it; safe to call twice. */
  release(): void;
}

interface Waiter {
  readonly bytes: number;
  admit(share: BodyShare): void;
  refuse(reason: unknown): void;
}

/** The refusal of a large body that gets no share in time. */
export function tooBusy(): HttpRefusal {
  const message = "too many large bodies are worked on at the moment. Send the same request again later.";
  return new HttpRefusal("overloaded", message, { headers: retryAfter(retryAfterMs) });
}

function stopping(): HttpRefusal {
  return new HttpRefusal("overloaded", "dropgate is stopping. Try again in a few seconds.");
}

export class BodyBudget {
  readonly #limits: () => BudgetLimits;
  readonly #waiters = new Set<Waiter>();
  #inWork = 0;
  #isClosed = false;

  /** `limits`: those in force. */
  constructor(limits: () => BudgetLimits) {
    this.#limits = limits;
  }

  get inWork(): number {
    return this.#inWork;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /**
   * A share of `bytes`, in order of arrival. Throws 999 when too many wait already, when there is none within
   * `timeoutMs` milliseconds and at the stop; throws the reason of `signal` when it aborts.
   */
  async reserve(bytes: number, timeoutMs: number, signal: AbortSignal): Promise<BodyShare> {
    if (this.#isClosed) throw stopping();
    signal.throwIfAborted();
    if (this.#waiters.size === 0 && this.#hasRoomFor(bytes)) return this.#take(bytes);
    // A waiting request is in hand too: the other half stays for requests that need not wait.
    if (this.#waiters.size >= Math.max(1, this.#limits().maxRequestsInFlight / 2)) throw tooBusy();
    return await this.#wait(bytes, timeoutMs, signal);
  }

  /** The limits have changed, or a share has come back. */
  refresh(): void {
    if (this.#isClosed) return;
    for (const waiter of this.#waiters) {
      if (!this.#hasRoomFor(waiter.bytes)) return;
      this.#waiters.delete(waiter);
      waiter.admit(this.#take(waiter.bytes));
    }
  }

  /** Refuses those who wait, and everybody from now on. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#waiters) waiter.refuse(stopping());
  }

  /** The largest body fits alone, whatever a reload has made of the limits. */
  #hasRoomFor(bytes: number): boolean {
    const { maxBodyBytes, maxBodyBytesInWork } = this.#limits();
    return this.#inWork === 0 || this.#inWork + bytes <= Math.max(maxBodyBytes, maxBodyBytesInWork);
  }

  #take(bytes: number): BodyShare {
    let held = bytes;
    this.#inWork += held;
    const reduceTo = (rest: number) => {
      if (rest >= held) return;
      this.#inWork -= held - rest;
      held = rest;
      this.refresh();
    };
    return { reduceTo, release: () => reduceTo(0) };
  }

  #wait(bytes: number, timeoutMs: number, signal: AbortSignal): Promise<BodyShare> {
    return new Promise((resolve, reject) => {
      const onAbort = () => refuse(signal.reason);
      const timer = setTimeout(() => refuse(tooBusy()), timeoutMs);
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#waiters.delete(waiter);
      };
      const refuse = (reason: unknown) => {
        settle();
        reject(reason instanceof Error ? reason : new ClientGone());
        // Smaller bodies behind it may fit now.
        this.refresh();
      };
      const admit = (share: BodyShare) => {
        settle();
        resolve(share);
      };
      const waiter: Waiter = { bytes, admit, refuse };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }
}
