/** When a folder was looked at, since when a scan of it is under way, and until when it rests. */
import type { Clock } from "../../lib/clock.ts";

/** After a scan the folder rests for so many times the duration of the scan. */
const restFactor = 5;

export class ScanTimes {
  readonly #clock: Clock;
  #lookedAt: number | undefined;
  #scanningSince: number | undefined;
  #lookingSince: number | undefined;
  #begunMs = 0;
  #restUntilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The last time that it could be read, milliseconds UTC; undefined before the first. */
  get lookedAt(): number | undefined {
    return this.#lookedAt;
  }

  /** Of a scan, or of a look whether one is due; undefined while there is none, milliseconds UTC. */
  get scanningSince(): number | undefined {
    return this.#scanningSince ?? this.#lookingSince;
  }

  /** Also as long as a scan is under way. */
  get isResting(): boolean {
    return this.#scanningSince !== undefined || performance.now() < this.#restUntilMs;
  }

  /** A scan begins; returns the moment on a clock that never jumps. */
  begin(): number {
    this.#scanningSince = this.#clock.now();
    this.#begunMs = performance.now();
    return this.#begunMs;
  }

  /** The folder could be read. */
  looked(): void {
    this.#lookedAt = this.#clock.now();
  }

  /** A look begins that tells whether a scan is due. It keeps none from being asked for; returns the moment, as `begin` does. */
  beginLook(): number {
    this.#lookingSince = this.#clock.now();
    return performance.now();
  }

  /** The look that began then has ended. */
  endLook(begunMs: number): void {
    this.#lookingSince = undefined;
    this.#rest(begunMs);
  }

  #rest(begunMs: number): void {
    const endedMs = performance.now();
    this.#restUntilMs = endedMs + restFactor * (endedMs - begunMs);
  }

  /** The scan has ended, well or not. */
  end(): void {
    this.#scanningSince = undefined;
    this.#rest(this.#begunMs);
  }
}
