/**
 * Ways to entries of the ledger in the order of arrival, each of one company and by one index: all of them, those of a state
 * that few have, those with a fault of a code, those that wait, or those of a name.
 */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { type FileState, isOpenState, openStates } from "../../domain/files/file-state.ts";
import type { ErrorCode } from "../../lib/errors.ts";
import { unindexed } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import { isOfName, isServedByIndex } from "../database/searches/name-pattern.ts";
import { PieceSize, type Way } from "../database/searches/page-walk.ts";
import { type ArrivalPlace, type Direction, orderOf } from "./arrival-place.ts";
import { type FileExpressions, type FileSelection, selectionConditions } from "./file-lists.ts";
import { type LedgerEntry, toLedgerEntry } from "./files.ts";

/** What is asked for; together as far as it is given. */
export interface PageSelection extends Omit<FileSelection, "companyId" | "stopNbr"> {
  /** Only of these. */
  readonly companyIds: readonly number[];
  /** Only those whose bytes were removed because of their age. */
  readonly isPruned?: true;
}

/** Of entries in the order of arrival. */
export type FileWay = Way<LedgerEntry, ArrivalPlace>;

export interface WayOptions {
  readonly read: Reader;
  readonly selection: PageSelection;
  readonly direction: Direction;
}

/** Literally as in the index, or else SQLite does not see that it serves. */
const notApplied = sql<SqlBool>`state in ('refused', 'duplicate', 'superseded')`;

/** What the selection says of an entry that is at hand: no index is to be used for it. */
function conditions(eb: FileExpressions, { states, isPruned, ...rest }: PageSelection) {
  return eb.and([
    selectionConditions(eb, rest),
    ...(states === undefined ? [] : [eb("state", "in", [...states])]),
    ...(isPruned === undefined ? [] : [eb("pruned_days", "is not", null)]),
  ]);
}

/** Whether nearly each entry of a way is one of the selection. */
function takesAll({ isPruned, name, channel, userName, reasons }: PageSelection): boolean {
  return [isPruned, name, channel, userName, reasons].every((one) => one === undefined);
}

/** The places of a way beyond one, in their order, so many from the nth on. */
type Places = (
  from: ArrivalPlace,
  part: { readonly offset: number; readonly limit: number },
) => RawBuilder<PlaceRow>;

interface PlaceRow {
  readonly receivedAt: number;
  readonly id: number;
}

interface PlacesFrom {
  readonly table: "files" | "file_faults";
  /** The columns of the place; unindexed, when no index is to give the order. */
  readonly receivedAt: RawBuilder<unknown>;
  readonly id: RawBuilder<unknown>;
  readonly where: RawBuilder<SqlBool>;
}

function placesFrom(
  { selection, direction }: WayOptions,
  { table, receivedAt: at, id: number, where }: PlacesFrom,
): Places {
  const { since = 0, until = Number.MAX_SAFE_INTEGER } = selection;
  const order = sql.raw(direction === "older" ? "desc" : "asc");
  const beyond = sql.raw(direction === "older" ? "<" : ">");
  return (from, { offset, limit }) => {
    // One bound on either side: of two, SQLite may take the wider one, and walk the whole index up to the place.
    const first = direction === "newer" ? Math.max(since, from.receivedAt) : since;
    const end = direction === "older" ? Math.min(until, from.receivedAt + 1) : until;
    return sql<PlaceRow>`
      select received_at as "receivedAt", ${number} as id from ${sql.table(table)}
      where ${where} and ${at} >= ${first} and ${at} < ${end}
        and (${unindexed}received_at, ${number}) ${beyond} (${from.receivedAt}, ${from.id})
      order by ${at} ${order}, ${number} ${order} limit ${limit} offset ${offset}`;
  };
}

/** Entries at the places: those of the selection among many piece by piece. */
function wayAlong(options: WayOptions, places: Places): FileWay {
  const { read, selection, direction } = options;
  const isOfAll = takesAll(selection);
  const piece = new PieceSize();
  const look = async (from: ArrivalPlace, limit: number, size: number) => {
    const last = await places(from, { offset: size - 1, limit: 1 }).execute(read);
    const rows = await read
      .selectFrom(sql<PlaceRow>`(${places(from, { offset: 0, limit: size })})`.as<"p">(sql.ref("p")))
      .crossJoin("files")
      .selectAll("files")
      .whereRef("files.id", "=", "p.id")
      .where((eb) => conditions(eb, selection))
      .orderBy("p.receivedAt", orderOf[direction])
      .orderBy("p.id", orderOf[direction])
      .limit(limit)
      .execute();
    const entries = rows.map(toLedgerEntry);
    return { entries, seenTo: entries.length < limit ? last.rows[0] : entries.at(-1) };
  };
  return (from, limit) =>
    isOfAll ? look(from, limit, limit) : piece.during(() => look(from, limit, Math.max(limit, piece.rows)));
}

const byArrival = { table: "files", receivedAt: sql`received_at`, id: sql`id` } as const;

/** All entries of a company. */
function wayOfCompany(options: WayOptions, companyId: number): FileWay {
  return wayAlong(options, placesFrom(options, { ...byArrival, where: sql`company_id = ${companyId}` }));
}

/** Those of a state that few have. */
function wayOfState(options: WayOptions, companyId: number, state: FileState): FileWay {
  const where = sql<SqlBool>`company_id = ${companyId} and state = ${sql.lit(state)} and ${notApplied}`;
  return wayAlong(options, placesFrom(options, { ...byArrival, where }));
}

/** Those with a fault of a code. */
function wayOfFault(options: WayOptions, companyId: number, code: ErrorCode): FileWay {
  const where = sql<SqlBool>`company_id = ${companyId} and code = ${code}`;
  const place = { table: "file_faults", receivedAt: sql`received_at`, id: sql`file_id` } as const;
  return wayAlong(options, placesFrom(options, { ...place, where }));
}

/** Sorted when they are asked for: the index of what is sought gives them in another order. */
const sorted = { table: "files", receivedAt: sql`${unindexed}received_at`, id: sql`${unindexed}id` } as const;

/** Those that are not filed away yet, of all companies. */
function wayOfOpen(options: WayOptions): FileWay {
  const ids = sql.join([...options.selection.companyIds]);
  const where = sql<SqlBool>`is_filed = 0 and state in (${sql.join([...openStates])}) and ${unindexed}company_id in (${ids})`;
  return wayAlong(options, placesFrom(options, { ...sorted, where }));
}

/** So many of a name are sorted. */
const mostOfName = 5_000;

/** Those whose names begin so, of all companies; undefined when there are too many to be sorted. */
async function wayOfName(options: WayOptions, name: string): Promise<FileWay | undefined> {
  const ids = sql.join([...options.selection.companyIds]);
  const where = sql<SqlBool>`company_id in (${ids}) and ${isOfName("name", name)}`;
  const some = sql`select 1 from files where ${where} limit 1 offset ${mostOfName}`;
  if ((await some.execute(options.read)).rows.length > 0) return undefined;
  return wayAlong(options, placesFrom(options, { ...sorted, where }));
}

/** Ways that together have all entries of the selection; an entry may be on two of them. */
export async function waysTo(options: WayOptions): Promise<readonly FileWay[]> {
  const { companyIds, states, reasons, name } = options.selection;
  const ofName = name !== undefined && isServedByIndex(name) ? await wayOfName(options, name) : undefined;
  if (ofName !== undefined) return [ofName];
  if (reasons !== undefined)
    return companyIds.flatMap((id) => reasons.map((code) => wayOfFault(options, id, code)));
  if (states?.every(isOpenState)) return [wayOfOpen(options)];
  if (states?.every((state) => !isOpenState(state) && state !== "applied"))
    return companyIds.flatMap((id) => states.map((state) => wayOfState(options, id, state)));
  return companyIds.map((id) => wayOfCompany(options, id));
}
