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
