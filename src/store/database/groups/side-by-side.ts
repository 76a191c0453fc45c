/**
 * Work within a transaction that need not wait for other work of it. A database server answers what is asked at the same
 * moment in one round trip, and takes the same statement of many as one. With a database that answers at once everything
 * runs one after the other, as it is given.
 *
 * Units of work say by keys what they read before they write it (`apart`). Units of one key run one after the other, in
 * their order; those of different keys may run at the same moment, in which each sees what others have written so far. A
 * unit that finds out on its way that its keys do not cover what it is going to write, asks to be alone.
 */
import type { Kysely } from "kysely";
import type { MayRunBefore } from "../fence.ts";
import { connectionOf } from "../prepared-query.ts";
import type { Tables } from "../schema.ts";

/** Given only where they are asked for. */
export type Keys = () => readonly string[];

const keysOfWork = new WeakMap<object, Keys>();

/** The same unit of work, which may run beside units that have none of its keys. */
export function apart<Work extends (tx: Kysely<Tables>) => unknown>(keys: Keys, work: Work): Work {
  keysOfWork.set(work, keys);
  return work;
}

/** The keys of a unit of work; undefined when it runs beside no other. */
export function keysOf(work: object): Keys | undefined {
  return keysOfWork.get(work);
}

const mayRunBefore = new WeakMap<object, MayRunBefore>();

/** The same unit of work, which need not wait for such files when `mayRun` says so. */
export function besideArrivals<Work extends (tx: Kysely<Tables>) => unknown>(
  mayRun: MayRunBefore | undefined,
  work: Work,
): Work {
  if (mayRun !== undefined) mayRunBefore.set(work, mayRun);
  return work;
}

/** Undefined when the unit waits for all of them. */
export function mayRunBeforeOf(work: object): MayRunBefore | undefined {
  return mayRunBefore.get(work);
}

/** A unit is to run again when those beside it have ended. */
export class NotAloneError extends Error {
  constructor() {
    super("the unit of work is not alone in its transaction");
    this.name = "NotAloneError";
  }
}

const shared = new WeakSet<Kysely<Tables>>();

/**
 * To be called by a unit before its first write, when it is going to write what its keys do not cover. Throws when others run
 * beside it: then it runs again after them.
 */
export function requireAlone(tx: Kysely<Tables>): void {
  if (shared.has(tx)) throw new NotAloneError();
}

/** Runs them at the same moment; resolves when all have ended, with how each did, in their order. */
export async function endsOfAll<T>(
  tx: Kysely<Tables>,
  units: readonly ((tx: Kysely<Tables>) => Promise<T>)[],
): Promise<readonly PromiseSettledResult<T>[]> {
  shared.add(tx);
  try {
    return await Promise.allSettled(units.map((unit) => unit(tx)));
  } finally {
    shared.delete(tx);
  }
}

/** Does `one` for each item, in their order or, on a database server, at the same moment: none may depend on another. */
export async function forEach<Item, Result>(
  tx: Kysely<Tables>,
  items: readonly Item[],
  one: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const connection = await connectionOf(tx);
  if (!connection.answersAtOnce) return await allDone(items.map(one));
  const results: Result[] = [];
  for (const item of items) results.push(await one(item));
  return results;
}

/** Rejects when the last has ended: nothing of them may go on in a transaction that is over. */
async function allDone<Result>(under: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(under);
  return await Promise.all(under);
}
