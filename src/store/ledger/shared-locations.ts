/** Places that more than one entry of the ledger claims: there can be none, unless something went wrong. */
import { setImmediate } from "node:timers/promises";
import type { Reader } from "../database/database.ts";

export interface SharedLocation {
  readonly location: string;
  /** Lowest and highest of the entries that name it. */
  readonly firstId: number;
  readonly lastId: number;
}

const locationsAtOnce = 5_000;

/** The last place of the next page in the order of the index; undefined when the page after `after` is the last one. */
async function lastOfPage(read: Reader, after: string): Promise<string | undefined> {
  const row = await read
    .selectFrom("files")
    .select("location")
    .where("location", ">", after)
    .orderBy("location")
    .limit(1)
    .offset(locationsAtOnce)
    .executeTakeFirst();
  return row?.location;
}

/** In the index alone, which does not know whose bytes a user has removed. */
async function namedTwice(read: Reader, after: string, last: string | undefined): Promise<readonly string[]> {
  let query = read
    .selectFrom("files")
    .select("location")
    .where("location", ">", after)
    .groupBy("location")
    .having((eb) => eb.fn.countAll<number>(), ">", 1);
  if (last !== undefined) query = query.where("location", "<=", last);
  return (await query.execute()).map((row) => row.location);
}

async function sharedAmong(read: Reader, locations: readonly string[]): Promise<readonly SharedLocation[]> {
  if (locations.length === 0) return [];
  const rows = await read
    .selectFrom("files")
    .select((eb) => ["location", eb.fn.min("id").as("first_id"), eb.fn.max("id").as("last_id")])
    .where("location", "in", locations)
    .where("removed_at", "is", null)
    .groupBy("location")
    .having((eb) => eb.fn.countAll<number>(), ">", 1)
    .execute();
  return rows.map((row) => ({
    location: row.location,
    firstId: Number(row.first_id),
    lastId: Number(row.last_id),
  }));
}

/**
 * Places that more than one entry claims. Page by page: the index over a ledger of years takes half a second, in which
 * nothing else would run.
 */
export async function listSharedLocations(
  read: Reader,
  options: { readonly limit: number; readonly signal?: AbortSignal | undefined },
): Promise<readonly SharedLocation[]> {
  const shared: SharedLocation[] = [];
  let after: string | undefined = "";
  while (after !== undefined && shared.length < options.limit) {
    options.signal?.throwIfAborted();
    const last = await lastOfPage(read, after);
    shared.push(...(await sharedAmong(read, await namedTwice(read, after, last))));
    after = last;
    await setImmediate();
  }
  return shared.slice(0, options.limit);
}
