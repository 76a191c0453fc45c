import type { AttributeChange, ExchangeAttributes } from "../exchange-session.ts";

const maxRemembered = 1_000;
/** A client that takes longer between the answer of a close and its next file waits for something else than us. */
const pushGapMs = 3;

/**
 * What one session has uploaded. The pipeline takes a file away within milliseconds, but clients ask for size and time of
 * what they have just sent, or set its time; they get the answer from here.
 */
export class UploadMemory {
  readonly #completed = new Map<string, ExchangeAttributes>();
  /** Times that the client gave to unfinished files, which are data and never set on disk. */
  readonly #times = new Map<string, AttributeChange>();
  #arrivedAtMs = Number.NEGATIVE_INFINITY;
  #isPushing = false;

  /** The client sends one file after another, without a pause. */
  get isPushing(): boolean {
    return this.#isPushing;
  }

  /** The client opens an upload. `nowMs` is of a clock that only goes forward. */
  opened(nowMs: number): void {
    this.#isPushing = nowMs - this.#arrivedAtMs <= pushGapMs;
  }

  /** A file of the client is complete, and its close is about to be answered. */
  arrived(nowMs: number): void {
    this.#arrivedAtMs = nowMs;
  }

  completed(key: string): ExchangeAttributes | undefined {
    return this.#completed.get(key);
  }

  /** The unfinished file has its final name, and `finalKey` with it. */
  becameFile(key: string, finalKey: string, attributes: ExchangeAttributes): void {
    const seen = this.withTimes(key, attributes);
    this.forget(key);
    keep(this.#completed, finalKey, seen);
  }

  forget(key: string): void {
    this.#completed.delete(key);
    this.#times.delete(key);
  }

  /** Notes times for a file that is complete or unfinished. */
  setTimes(key: string, change: AttributeChange): void {
    const known = this.#completed.get(key);
    if (known === undefined) keep(this.#times, key, { ...this.#times.get(key), ...timesOf(change) });
    else this.#completed.set(key, { ...known, ...timesOf(change) });
  }

  /** The attributes as the client should see them. */
  withTimes(key: string, attributes: ExchangeAttributes): ExchangeAttributes {
    return { ...attributes, ...this.#times.get(key) };
  }
}

function timesOf(change: AttributeChange): AttributeChange {
  const { modifiedSeconds, accessedSeconds } = change;
  return {
    ...(modifiedSeconds === undefined ? {} : { modifiedSeconds }),
    ...(accessedSeconds === undefined ? {} : { accessedSeconds }),
  };
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= maxRemembered) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}
