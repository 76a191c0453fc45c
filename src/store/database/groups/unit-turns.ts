/** Which units of a group may run at the same moment. */
import type { Owner } from "../owner.ts";
import type { Keys } from "./side-by-side.ts";

/** What decides about the place of a unit. */
export interface Placed {
  readonly whose: Owner;
  /** Undefined: it runs beside no other. */
  readonly keys: Keys | undefined;
}

/**
 * The units in turns that follow one another. Those of one turn have no key in common; those with a common key, and those
 * before and after one without keys, are in turns in their order.
 */
export function turnsOf<Unit extends Placed>(units: readonly Unit[]): readonly (readonly Unit[])[] {
  const turns: Unit[][] = [];
  /** The first turn for units after the last one without keys. */
  let first = 0;
  const next = new Map<string, number>();
  for (const unit of units) {
    const own = unit.keys?.().map((key) => `${unit.whose} ${key}`);
    const turn = own === undefined ? turns.length : Math.max(first, ...own.map((key) => next.get(key) ?? 0));
    const beside = turns[turn];
    if (beside === undefined) turns.push([unit]);
    else beside.push(unit);
    if (own === undefined) first = turns.length;
    else for (const key of own) next.set(key, turn + 1);
  }
  return turns;
}
