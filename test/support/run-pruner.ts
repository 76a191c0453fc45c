/** One pruner by itself, for the company with the id 1: what it counts, then what it removes. */
import { type Amounts, type PruneDeps, type Pruner, Tally } from "../../src/app/retention/pruner.ts";
import { createLocations } from "../../src/inbound/places/locations.ts";
import { createLogger } from "../../src/lib/logs/log.ts";

export interface PrunerRun
  extends Pick<PruneDeps, "store" | "now" | "walks" | "places">,
    Partial<Pick<PruneDeps, "clock">> {
  /** Milliseconds UTC. */
  readonly before: number;
  readonly days?: number;
  readonly signal?: AbortSignal;
}

const going = new AbortController().signal;

/** What a pruner asks of the pass. */
export function depsOf({ store, now, walks, places, clock = { now: () => now } }: PrunerRun): PruneDeps {
  return {
    ...{ store, now, walks, places, clock, locations: createLocations("/nowhere") },
    ...{ ledgerNumbers: { seal: String }, log: createLogger({ level: "silent" }), isHeldUp: () => false },
  };
}

async function run(pruner: Pruner, of: "wouldGo" | "prune", wanted: PrunerRun): Promise<Amounts> {
  const due = [{ id: 1, code: "ACME", before: wanted.before, days: wanted.days ?? 30 }];
  const tally = new Tally();
  await pruner[of](depsOf(wanted), due, { tally, signal: wanted.signal ?? going });
  return tally.amounts;
}

export const countOldOf = (pruner: Pruner, wanted: PrunerRun) => run(pruner, "wouldGo", wanted);
export const pruneOldOf = (pruner: Pruner, wanted: PrunerRun) => run(pruner, "prune", wanted);

/** Aborts when a pruner has looked so often whether it is to go on, which it does before each step. */
export function cutOffAfter(looks: number): AbortSignal {
  const cutOff = new AbortController();
  let left = looks;
  const look = () => {
    left -= 1;
    if (left < 0) cutOff.abort();
    AbortSignal.prototype.throwIfAborted.call(cutOff.signal);
  };
  return Object.assign(cutOff.signal, { throwIfAborted: look });
}
