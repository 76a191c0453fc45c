/**
 * Queries of the ledger for people: explanations, order and accounting. `file-lists.ts` has the lists by filters,
 * `files.ts` the queries of the pipeline.
 */
import { type SqlBool, sql } from "kysely";
import { decidedStates, openStates } from "../../domain/files/file-state.ts";
import type { Reader } from "../database/database.ts";
import { namedColumns } from "../database/named-rows.ts";
import { companyIds, type FileExpressions, isNamedFor } from "./file-lists.ts";
import { type LedgerEntry, toLedgerEntry } from "./files.ts";
import { secondMs } from "../../lib/durations.ts";
import { unindexed } from "../database/dialects/sql-forms.ts";

/** Every entry of that name, in the company or in all, oldest first. */
export async function listFilesByName(
  read: Reader,
  key: { readonly companyId?: number; readonly name: string },
): Promise<readonly LedgerEntry[]> {
  const rows = await read
    .selectFrom("files")
    .selectAll()
    .where("company_id", "in", await companyIds(read, key.companyId))
    .where("name", "=", key.name)
    .orderBy("id")
    .execute();
  return rows.map(toLedgerEntry);
}

/** The newest entries of exactly that name in a company. */
export async function listNamesakes(
  read: Reader,
  key: { readonly companyId: number; readonly name: string; readonly limit: number },
): Promise<readonly LedgerEntry[]> {
  const rows = await read
    .selectFrom("files")
    .selectAll()
    .where("company_id", "=", key.companyId)
    .where("name", "=", key.name)
    .orderBy("id", "desc")
    .limit(key.limit)
    .execute();
  return rows.map(toLedgerEntry);
}

const maxOfDocument = 20;

/**
 * The newest entries whose document has that DocumentID, in the company or in all, at most 20, the oldest of them first.
 * Reads the whole ledger, once for all companies: only for what is known by no name.
 */
export async function listFilesByDocumentId(
  read: Reader,
  key: { readonly companyId?: number; readonly documentId: string },
): Promise<readonly LedgerEntry[]> {
  let query = read.selectFrom("files").selectAll().where("document_id", "=", key.documentId);
  if (key.companyId !== undefined)
    query = query.where(sql<boolean>`${unindexed}company_id = ${key.companyId}`);
  const rows = await query.orderBy("id", "desc").limit(maxOfDocument).execute();
  return rows.map(toLedgerEntry).toReversed();
}

const maxSpellings = 20;

/**
 * Names in the ledger that differ from this one in the case of letters alone: at most 20, in order, of the company or of
 * all. Reads every name: only for a name that is not found as it is.
 */
export async function listFileSpellings(
  read: Reader,
  key: { readonly companyId?: number; readonly name: string },
): Promise<readonly string[]> {
  let query = read
    .selectFrom("files")
    .select("name")
    .distinct()
    .where(sql<boolean>`lower(name) = ${key.name.toLowerCase()}`)
    .where("name", "!=", key.name);
  if (key.companyId !== undefined) query = query.where("company_id", "=", key.companyId);
  const rows = await query.orderBy("name").limit(maxSpellings).execute();
  return rows.map(({ name }) => name);
}

/** Who goes before a waiting file. */
export interface FilesBefore {
  /** Waiting files of the company with an earlier time. */
  readonly earlier: number;
  /** Others with the same time; among them Function code, stop number and arrival decide. */
  readonly sameTime: number;
  /** The first of the earlier ones. */
  readonly first?: { readonly id: number; readonly name: string };
}

export interface PlaceInLine {
  readonly companyId: number;
  readonly id: number;
  /** CCYYMMDDHHMMSS of the name, or of the arrival (UTC) when the name has none. */
  readonly time: number;
  /** The same instant in milliseconds UTC. */
  readonly timeMs: number;
}

function waitingFiles(read: Reader, companyId: number) {
  return (
    read
      .selectFrom("files")
      .where("company_id", "=", companyId)
      // A literal, as above.
      .where("is_filed", "=", sql.lit(0))
      .where("state", "in", [...openStates])
  );
}

/** Counts what is to be applied before a waiting file. Names without a time have the place of their arrival. */
export async function findFilesBefore(read: Reader, place: PlaceInLine): Promise<FilesBefore> {
  const { companyId, time, timeMs } = place;
  const isEarlier = (eb: FileExpressions) =>
    eb.or([
      eb("name_time", "<", time),
      eb.and([eb("name_time", "is", null), eb("received_at", "<", timeMs)]),
    ]);
  const isSame = (eb: FileExpressions) =>
    eb.or([
      eb("name_time", "=", time),
      eb.and([
        eb("name_time", "is", null),
        eb("received_at", ">=", timeMs),
        eb("received_at", "<", timeMs + secondMs),
      ]),
    ]);
  const total = (eb: FileExpressions) => eb.fn.countAll<number>().as("total");
  const earlier = await waitingFiles(read, companyId).select(total).where(isEarlier).executeTakeFirst();
  const same = await waitingFiles(read, companyId)
    .select(total)
    .where(isSame)
    .where("id", "!=", place.id)
    .executeTakeFirst();
  const first = await waitingFiles(read, companyId)
    .select(["id", "name"])
    .where(isEarlier)
    .orderBy((eb) => eb("name_time", "is", null))
    .orderBy("name_time")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return {
    earlier: Number(earlier?.total ?? 0),
    sameTime: Number(same?.total ?? 0),
    ...(first === undefined ? {} : { first }),
  };
}

/** A waiting file, as far as the order asks for it. */
export type OpenPlace = Pick<LedgerEntry, "id" | "companyId" | "name" | "nameTime" | "receivedAt">;

/** Waiting files of these companies, at most so many, in no order. */
export async function listOpenPlaces(
  read: Reader,
  { companyIds: ids, limit }: { readonly companyIds: readonly number[]; readonly limit: number },
): Promise<readonly OpenPlace[]> {
  return await read
    .selectFrom("files")
    .select(namedColumns("id", "company_id", "name", "name_time", "received_at"))
    .where("is_filed", "=", sql.lit(0))
    .where("state", "in", [...openStates])
    .where(sql<SqlBool>`${unindexed}company_id in (${sql.join([...ids])})`)
    .limit(limit)
    .execute();
}

/** Entries that are decided and not filed away yet: their bytes are at `source` or at `location`. */
export async function listUnfiled(
  read: Reader,
): Promise<readonly { readonly id: number; readonly source: string; readonly location: string }[]> {
  return await read
    .selectFrom("files")
    .select(["id", "source", "location"])
    .where("is_filed", "=", sql.lit(0))
    .where("state", "in", decidedStates)
    .execute();
}

/** How many entries there are; the highest id stands in for it, so that a progress bar costs nothing. */
export async function lastFileId(read: Reader): Promise<number> {
  const row = await read
    .selectFrom("files")
    .select((eb) => eb.fn.max("id").as("last"))
    .executeTakeFirst();
  return Number(row?.last ?? 0);
}

/** Waiting files of the same stop, by its number in the name, that go before one; in their order, at most 20. */
export async function findEarlierOfStop(
  read: Reader,
  place: PlaceInLine & { readonly stopNbr: string },
): Promise<readonly LedgerEntry[]> {
  const rows = await waitingFiles(read, place.companyId)
    .selectAll()
    .where((eb) => isNamedFor(eb, place.stopNbr))
    .where("id", "!=", place.id)
    .where((eb) =>
      eb.or([
        eb("name_time", "<", place.time),
        eb.and([eb("name_time", "=", place.time), eb("id", "<", place.id)]),
      ]),
    )
    .orderBy("name_time")
    .orderBy("id")
    .limit(20)
    .execute();
  return rows.map(toLedgerEntry);
}
