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

/** How much of the time between these two was stolen, in milliseconds of the clock. */
function stolenMs(before: Sample, after: Sample): number {
  const all = after.all - before.all;
  const ms = after.at - before.at;
  // The clock may be set, and counters may stand still.
  return all <= 0 || ms <= 0 ? 0 : ((after.stolen - before.stolen) / all) * ms;
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
      if (before === undefined || after.at <= before.at || after.at <= from || before.at >= to) continue;
      const part = Math.min(to, after.at) - Math.max(from, before.at);
      sum += stolenMs(before, after) * (part / (after.at - before.at));
    }
    return sum;
  }

  /** The share of all that was stolen since it began, of 1. */
  get share(): number {
    const [first] = this.#samples;
    const last = this.#sample();
    return first === undefined || last.at <= first.at ? 0 : stolenMs(first, last) / (last.at - first.at);
  }

  end(): void {
    this.#samples.push(this.#sample());
    clearInterval(this.#timer);
  }
}
