/** The clock; tests put their own in. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** The same clock, but for moments at which it goes back: then it stands still. */
export function forwardClock(clock: Clock): Clock {
  let last = Number.NEGATIVE_INFINITY;
  return {
    now() {
      last = Math.max(last, clock.now());
      return last;
    },
  };
}

/**
 * Milliseconds of a clock that nobody sets, the same in all threads of the machine: `performance.now()` begins anew in each. It
 * goes on while a process is stopped; it may stand while a hypervisor pauses the whole machine.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}
