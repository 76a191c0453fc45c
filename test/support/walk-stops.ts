/** What random walks are made of: a generator, and stops whose visits follow from their numbers. */
import { north } from "./route-driver.ts";

/** Mulberry32: a small generator whose walk is the same on every machine. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type StopKind = "pickupOnly" | "both" | "dropoff";

const numberOf = (stopNbr: string): number => Number(/\d+$/.exec(stopNbr)?.[0]);

/** A stop is of the same kind for ever, by the figures at the end of its number. */
export const kindOf = (stopNbr: string): StopKind =>
  (["pickupOnly", "both", "dropoff"] as const)[numberOf(stopNbr) % 3] ?? "dropoff";
export const kinds = {
  isPickupOnly: (stopNbr: string) => kindOf(stopNbr) === "pickupOnly",
  hasPickup: (stopNbr: string) => kindOf(stopNbr) !== "dropoff",
};

/** The time with which stops come. */
export const stopTime = "2026-11-05T08:00:00";

/** With a time window, or without. */
export function stopOf(stopNbr: string, hasWindow = true): object {
  const place = numberOf(stopNbr) + 1;
  const to = { ...north(place), ...(hasWindow ? { schedule: { timeFrom: stopTime } } : {}) };
  switch (kindOf(stopNbr)) {
    case "pickupOnly":
      return { stopNbr, stopType: "PU", from: to };
    case "both":
      return { stopNbr, from: north(place + 0.5), to };
    case "dropoff":
      return { stopNbr, to };
  }
}
