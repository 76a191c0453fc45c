/**
 * How far the JavaScript heap may grow before garbage is collected: to twice what lives in it, which the launcher asks for,
 * but by 24 MB at most, which bounds the memory of a process with a large backlog; while much is received, to twice, and to
 * 48 MB at least.
 *
 * V8 counts the memory of buffers outside of its heap as well. With 20 MB of living objects and no more than their double it
 * would collect garbage every few megabytes of a large upload, and spend much of the time on that.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";

const usualPercent = 100;
const usualGrowthBytes = 24 * 1024 * 1024;
/** Below it a heap of any size would be collected all the time. */
const leastPercent = 25;
/** Much faster than a heap gets large. */
const lookMs = 2_000;
const busyHeapBytes = 48 * 1024 * 1024;
const windowMs = 1_000;
/** More than this within a window is much. */
const muchBytes = 8 * 1024 * 1024;

/** By how many percent a heap may grow in which so many bytes are used. */
export function usualPercentFor(usedBytes: number): number {
  const percent = Math.round((100 * usualGrowthBytes) / usedBytes);
  return Math.min(Math.max(percent, leastPercent), usualPercent);
}

/** The same while much is received. */
export function busyPercentFor(usedBytes: number): number {
  return Math.max(usualPercent, Math.round((100 * (busyHeapBytes - usedBytes)) / usedBytes));
}

/** The two readings and the setting of the engine; tests put their own in. */
export interface Engine {
  usedBytes(): number;
  setGrowthPercent(percent: number): void;
}

const v8: Engine = {
  usedBytes: () => getHeapStatistics().used_heap_size,
  setGrowthPercent: (percent) => setFlagsFromString(`--heap-growing-percent=${percent}`),
};

/** Keeps the limit of this process. Does not keep the process alive. */
export class HeapGrowth {
  readonly #engine: Engine;
  #receivedBytes = 0;
  #percent = usualPercent;
  #timer: NodeJS.Timeout | undefined;
  readonly #looking: NodeJS.Timeout;

  constructor(engine: Engine = v8) {
    this.#engine = engine;
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
  }

  /** To be called for every byte that is received. */
  received(bytes: number): void {
    const before = this.#receivedBytes;
    this.#receivedBytes += bytes;
    if (before <= muchBytes && this.#receivedBytes > muchBytes) this.#set(this.#busyPercent());
    this.#timer ??= setTimeout(() => this.#endWindow(), windowMs).unref();
  }

  stop(): void {
    clearInterval(this.#looking);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#set(usualPercent);
  }

  /** A window sets the limit at its end. */
  #look(): void {
    if (this.#timer === undefined) this.#set(usualPercentFor(this.#engine.usedBytes()));
  }

  #busyPercent(): number {
    return busyPercentFor(this.#engine.usedBytes());
  }

  #endWindow(): void {
    this.#timer = undefined;
    const wasMuch = this.#receivedBytes > muchBytes;
    this.#set(wasMuch ? this.#busyPercent() : usualPercentFor(this.#engine.usedBytes()));
    this.#receivedBytes = 0;
    // One more window, which ends the busy time when nothing comes in it.
    if (wasMuch) this.#timer = setTimeout(() => this.#endWindow(), windowMs).unref();
  }

  #set(percent: number): void {
    if (percent === this.#percent) return;
    this.#percent = percent;
    this.#engine.setGrowthPercent(percent);
  }
}
