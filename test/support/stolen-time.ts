/**
 * What the processors were not there for: on a virtual machine, the host runs other machines in between. A program can answer
 * for no time limit in such a time.
 */
import { readFileSync } from "node:fs";

interface Sample {
  /** Milliseconds UTC. */
  readonly at: number;
  /** Since the machine was started, over all processors, in the units of the kernel. */
  readonly stolen: number;
  readonly all: number;
}

const sampleMs = 100;
/** Of the fields of the line, the guests' are in others already. */
const fieldsOfTime = 8;
const stealField = 7;

/** Of the text of `/proc/stat`; no time is stolen where it is not there. */
export function readSample(text: string, at: number): Sample {
  const [, ...fields] = (text.split("\n", 1)[0] ?? "").split(/\s+/);
  const times = fields.slice(0, fieldsOfTime).map(Number);
  return { at, stolen: times[stealField] ?? 0, all: times.reduce((sum, time) => sum + time, 0) };
}

function sampleNow(): Sample {
  return readSample(readFileSync("/proc/stat", "utf8"), Date.now());
}

/** The share of the processors that was stolen between these two, of 1; counters may stand still. */
function shareOf(before: Sample, after: Sample): number {
  const all = after.all - before.all;
  return all <= 0 ? 0 : (after.stolen - before.stolen) / all;
}

export class StolenTime {
  readonly #samples: Sample[];
  readonly #sample: () => Sample;
  readonly #timer: NodeJS.Timeout;

  constructor(sample: () => Sample = sampleNow) {
    this.#sample = sample;
    this.#samples = [sample()];
    this.#timer = setInterval(() => this.#samples.push(this.#sample()), sampleMs);
  }

  /** Milliseconds between the two, milliseconds UTC: half of them when half of all processors was stolen. */
  betweenMs(from: number, to: number): number {
    let sum = 0;
    for (const [index, after] of this.#samples.entries()) {
      const before = this.#samples[index - 1];
      if (before === undefined) continue;
      // Less than nothing also where the clock was set back.
      const partMs = Math.min(to, after.at) - Math.max(from, before.at);
      if (partMs > 0) sum += shareOf(before, after) * partMs;
    }
    return sum;
  }

  /** The share of all that was stolen since it began, of 1. */
  get share(): number {
    const [first] = this.#samples;
    return first === undefined ? 0 : shareOf(first, this.#sample());
  }

  end(): void {
    this.#samples.push(this.#sample());
    clearInterval(this.#timer);
  }
}
