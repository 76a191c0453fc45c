/** Units of work without savepoints: one that fails undoes its whole group. */
import type { Kysely } from "kysely";
import type { Tables } from "../schema.ts";
import { endsOfAll, NotAloneError } from "./side-by-side.ts";
import { type Done, doneOf, type Unit } from "./unit-of-work.ts";
import { turnsOf } from "./unit-turns.ts";

/** Units without savepoints have failed: nothing that their group did is left. */
export class GroupUndone extends Error {
  readonly failed: ReadonlySet<Unit>;

  constructor(failed: readonly Unit[], cause: unknown) {
    super("a unit of the group has failed", { cause });
    this.failed = new Set(failed);
  }
}

/** Runs a unit that cannot be undone alone. */
async function runBare(tx: Kysely<Tables>, unit: Unit): Promise<Done> {
  try {
    return doneOf(tx, unit, await unit.work(tx));
  } catch (error) {
    throw new GroupUndone([unit], error);
  }
}

/** The same for several at the same moment. Those that must be alone run after the others, in their order. */
async function runBeside(tx: Kysely<Tables>, units: readonly Unit[]): Promise<readonly Done[]> {
  const ends = await endsOfAll(
    tx,
    units.map(({ work }) => work),
  );
  const [done, failed, later]: [Done[], Unit[], Unit[]] = [[], [], []];
  let cause: unknown;
  for (const [index, end] of ends.entries()) {
    const unit = units[index];
    if (unit === undefined) continue;
    if (end.status === "fulfilled") done.push(doneOf(tx, unit, end.value));
    else if (end.reason instanceof NotAloneError) later.push(unit);
    else {
      if (failed.length === 0) cause = end.reason;
      failed.push(unit);
    }
  }
  if (failed.length > 0) throw new GroupUndone(failed, cause);
  for (const unit of later) done.push(await runBare(tx, unit));
  return done;
}

/** Runs them in turns, each after the one before. Throws `GroupUndone` when one fails. */
export async function runAllBare(tx: Kysely<Tables>, units: readonly Unit[]): Promise<readonly Done[]> {
  const done: Done[] = [];
  for (const turn of turnsOf(units)) {
    const [only] = turn;
    if (turn.length === 1 && only !== undefined) done.push(await runBare(tx, only));
    else done.push(...(await runBeside(tx, turn)));
  }
  return done;
}

/** The units that come before, between and after those that failed, and each of these by itself: all in their order. */
export function partsAround(units: readonly Unit[], failed: ReadonlySet<Unit>): readonly (readonly Unit[])[] {
  const parts: Unit[][] = [];
  let isOpen = false;
  for (const unit of units) {
    const isFailed = failed.has(unit);
    if (isOpen && !isFailed) parts.at(-1)?.push(unit);
    else parts.push([unit]);
    isOpen = !isFailed;
  }
  return parts;
}
