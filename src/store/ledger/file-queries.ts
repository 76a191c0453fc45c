/** Queries of the ledger for people: lists, explanations, order and accounting; `files.ts` has those of the pipeline. */
import type { ExpressionBuilder, ExpressionWrapper, RawBuilder, SqlBool } from "kysely";
import { sql } from "kysely";
import { isOtherStopOfName, stopNumberForms } from "../../domain/files/stop-number-in-name.ts";
import type { FileState } from "../../domain/files/file-state.ts";
import { decidedStates, isFileState, isOpenState, openStates } from "../../domain/files/file-state.ts";
import type { ErrorCode } from "../../lib/errors.ts";
import type { Reader } from "../database/database.ts";
import { namedColumns } from "../database/named-rows.ts";
import { type LedgerEntry, toLedgerEntry } from "./files.ts";
import type { Tables } from "../database/schema.ts";

export interface FileSelection {
  readonly companyId?: number;
  readonly states?: readonly FileState[];
  /** Without regard to case: files whose name has this number, or one of whose Stops. */
  readonly stopNbr?: string;
  /** Received at this time or later, and before that one, milliseconds UTC. */
  readonly since?: number;
  readonly until?: number;
  /** A name, in which `*` stands for any characters and `?` for one. */
  readonly name?: string;
  /** Any of these is among its reasons. */
  readonly reasons?: readonly ErrorCode[];
  /** `remote` and `folder` stand for all of them; `remote:NAME` for one. */
  readonly channel?: string;
  readonly userName?: string;
  readonly limit: number;
}

type FileExpressions = ExpressionBuilder<Tables, "files">;

/** Length of `_CCYYMMDD_HHMMSS.xml`. */
const nameTailLength = 20;

/**
 * A file that waits or was refused for its name has no number in the ledger, but in its name. The range (`\`` follows
 * `_`) lets the index serve.
 */
function isNamedFor(eb: FileExpressions, stopNbr: string): ExpressionWrapper<Tables, "files", SqlBool> {
  return eb.or(
    stopNumberForms(stopNbr).map((number) =>
      eb.and([
        eb("name", ">=", `${number}_`),
        eb("name", "<", `${number}\``),
        eb(eb.fn<number>("length", ["name"]), "=", number.length + nameTailLength),
      ]),
    ),
  );
}

/** Ledger ids of the files that name one of these stops, though not as their first. */
async function findFilesOfLaterStops(
  read: Reader,
  stops: { readonly companyIds: readonly number[]; readonly stopNbrs: readonly string[] },
): Promise<readonly number[]> {
  const rows = await read
    .selectFrom("file_stops")
    .select("file_id")
    .where("company_id", "in", stops.companyIds)
    .where("stop_nbr", "in", [...stops.stopNbrs])
    .execute();
  return rows.map((row) => row.file_id);
}

/**
 * Ledger ids of files of a stop. Several queries, because one with `or` over two columns would read the whole ledger; each
 * for all companies, because there may be a thousand.
 */
async function idsOfStop(read: Reader, companies: readonly number[], stopNbr: string): Promise<number[]> {
  const spellings = await read
    .selectFrom("stops")
    .select("stop_nbr")
    .where("company_id", "in", companies)
    .where("stop_nbr_key", "=", stopNbr.toLowerCase())
    .execute();
  const numbers = [...new Set([stopNbr, stopNbr.toUpperCase(), ...spellings.map((row) => row.stop_nbr)])];
  const named = read
    .selectFrom("files")
    .select(["id", "stop_nbr"])
    .where("company_id", "in", companies)
    .where((eb) => isNamedFor(eb, stopNbr));
  const numbered = read
    .selectFrom("files")
    .select("id")
    .where("company_id", "in", companies)
    .where("stop_nbr", "in", numbers);
  // Another stop may give the same name: `A B` and `A-B`.
  const isOthers = (number: string | null) => number !== null && isOtherStopOfName(number, stopNbr);
  const ofName = (await named.execute()).filter((row) => !isOthers(row.stop_nbr));
  const rows = [...ofName, ...(await numbered.execute())];
  const later = await findFilesOfLaterStops(read, { companyIds: companies, stopNbrs: numbers });
  return [...new Set([...rows.map((row) => row.id), ...later])];
}

async function companyIds(read: Reader, companyId: number | undefined): Promise<number[]> {
  if (companyId !== undefined) return [companyId];
  const rows = await read.selectFrom("companies").select("id").orderBy("id").execute();
  return rows.map((row) => row.id);
}

/** SQLite takes 32,766 values in one statement; a stop with more files than this shows its newest. */
const maxIds = 20_000;

/** For `like … escape '\\'`. */
function likePattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}

function isNamed(eb: FileExpressions, name: string): ExpressionWrapper<Tables, "files", SqlBool> {
  if (!/[*?]/.test(name)) return eb.and([eb("name", "=", name)]);
  const pattern = likePattern(name).replaceAll("*", "%").replaceAll("?", "_");
  return eb.and([sql<SqlBool>`name like ${pattern} escape '\\'`]);
}

/** A fault is kept as an object that begins with its code; a message cannot look like that, since its quotes are escaped. */
function hasReason(eb: FileExpressions, codes: readonly ErrorCode[]) {
  return eb.or(codes.map((code) => eb("reasons", "like", `%"code":"${code}"%`)));
}

function isOfChannel(eb: FileExpressions, channel: string) {
  const parts = sql<SqlBool>`channel like ${`${likePattern(channel)}:%`} escape '\\'`;
  return eb.or([eb("channel", "=", channel), parts]);
}

function conditions(eb: FileExpressions, selection: FileSelection) {
  const { since, until, name, reasons, channel, userName } = selection;
  return eb.and([
    ...(since === undefined ? [] : [eb("received_at", ">=", since)]),
    ...(until === undefined ? [] : [eb("received_at", "<", until)]),
    ...(name === undefined ? [] : [isNamed(eb, name)]),
    ...(reasons === undefined ? [] : [hasReason(eb, reasons)]),
    ...(channel === undefined ? [] : [isOfChannel(eb, channel)]),
    ...(userName === undefined ? [] : [eb("user_name", "=", userName)]),
  ]);
}

/** States that few entries of a ledger of years have. Literally as in the index `files_not_applied`. */
const notApplied = sql<SqlBool>`state in ('refused', 'duplicate', 'superseded')`;

/** The states by the index that serves them, each group with the literal condition by which SQLite sees that it does. */
function stateGroupsOf(states: readonly FileState[]): readonly StateGroup[] {
  const groups = [
    { states: states.filter(isOpenState), condition: sql<SqlBool>`is_filed = 0` },
    { states: states.filter((state) => !isOpenState(state) && state !== "applied"), condition: notApplied },
    // Most are: whoever reads from the end finds some soon.
    { states: states.filter((state) => state === "applied"), condition: undefined },
  ];
  return groups.filter((group) => group.states.length > 0);
}

interface StateGroup {
  readonly states: readonly FileState[];
  readonly condition: RawBuilder<SqlBool> | undefined;
}

/** Entries of the selection, the newest first. */
export async function listFiles(read: Reader, selection: FileSelection): Promise<readonly LedgerEntry[]> {
  let query = read
    .selectFrom("files")
    .selectAll()
    .where((eb) => conditions(eb, selection))
    .orderBy("id", "desc")
    .limit(selection.limit);
  if (selection.stopNbr !== undefined) {
    const companies = await companyIds(read, selection.companyId);
    const ids = await idsOfStop(read, companies, selection.stopNbr);
    if (ids.length === 0) return [];
    const newest = ids.toSorted((one, other) => other - one).slice(0, maxIds);
    query = query.where("id", "in", newest);
    if (selection.states !== undefined) query = query.where("state", "in", [...selection.states]);
    return (await query.execute()).map(toLedgerEntry);
  }
  if (selection.companyId !== undefined) query = query.where("company_id", "=", selection.companyId);
  if (selection.states === undefined) return (await query.execute()).map(toLedgerEntry);
  const found: LedgerEntry[] = [];
  for (const { states, condition } of stateGroupsOf(selection.states)) {
    const ofStates = query.where("state", "in", [...states]);
    const rows = await (condition === undefined ? ofStates : ofStates.where(condition)).execute();
    found.push(...rows.map(toLedgerEntry));
  }
  return found.toSorted((one, other) => other.id - one.id).slice(0, selection.limit);
}

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

const secondMs = 1_000;

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

/** What the verification of the ledger needs of an entry. */
export interface AccountedFile extends Pick<LedgerEntry, AccountedValue> {
  /** Undefined for a state that does not exist. */
  readonly state: FileState | undefined;
  readonly stateText: string;
  readonly isRemoved: boolean;
}

type FileValue = "id" | "companyId" | "name" | "sha256" | "size" | "channel" | "firstId";
type AccountedValue = FileValue | "source" | "location" | "isFiled";

function selectAccounted(read: Reader) {
  return read
    .selectFrom("files")
    .select(namedColumns("id", "company_id", "name", "sha256", "size", "state", "channel"))
    .select(namedColumns("source", "location", "is_filed", "first_id", "removed_at"));
}

type AccountedRow = Awaited<ReturnType<ReturnType<typeof selectAccounted>["execute"]>>[number];

function toAccountedFile({ state, isFiled, removedAt, ...row }: AccountedRow): AccountedFile {
  return {
    ...row,
    ...{ state: isFileState(state) ? state : undefined, stateText: state },
    ...{ isFiled: isFiled === 1, isRemoved: removedAt !== null },
  };
}

/** One page of the whole ledger, by id. */
export async function listAccountedFiles(
  read: Reader,
  page: { readonly afterId: number; readonly limit: number },
): Promise<readonly AccountedFile[]> {
  const rows = await selectAccounted(read)
    .where("id", ">", page.afterId)
    .orderBy("id")
    .limit(page.limit)
    .execute();
  return rows.map(toAccountedFile);
}

/** The entries of those ids as they are now. */
export async function findAccountedFiles(
  read: Reader,
  ids: readonly number[],
): Promise<ReadonlyMap<number, AccountedFile>> {
  const rows = await selectAccounted(read)
    .where("id", "in", [...ids])
    .execute();
  return new Map(rows.map((row) => [row.id, toAccountedFile(row)]));
}

/** Which of the locations an entry has, even one whose bytes a user has removed. */
export async function findAccountedLocations(
  read: Reader,
  locations: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await read
    .selectFrom("files")
    .select("location")
    .where("location", "in", [...locations])
    .execute();
  return new Set(rows.map((row) => row.location));
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
