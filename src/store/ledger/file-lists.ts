/**
 * Lists of the ledger by what people ask for (`dropgate files`, `file retry`). An index serves numbers of stops, states
 * but `applied`, and names as far as they begin with digits; all else is looked for from the newest entry on, until the
 * page is full. Commands run these in a process of their own, never the daemon.
 */
import type { ExpressionBuilder, ExpressionWrapper, RawBuilder, SqlBool } from "kysely";
import { sql } from "kysely";
import { isOtherStopOfName, stopNumberForms } from "../../domain/files/stop-number-in-name.ts";
import type { FileState } from "../../domain/files/file-state.ts";
import { isOpenState } from "../../domain/files/file-state.ts";
import type { ErrorCode } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import { unindexed } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import { isOfName, isServedByIndex, likePattern } from "../database/searches/name-pattern.ts";
import type { Tables } from "../database/schema.ts";
import { type LedgerEntry, toLedgerEntry } from "./files.ts";

/** What people ask for; together as far as it is given. */
export interface FileSelection {
  readonly companyId?: number;
  readonly states?: readonly FileState[];
  /** Those whose bytes were removed because of their age, whatever their state is. */
  readonly isPruned?: boolean;
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
}

export type FileExpressions = ExpressionBuilder<Tables, "files">;

/** Length of `_CCYYMMDD_HHMMSS.xml`. */
const nameTailLength = 20;

/**
 * A file that waits or was refused for its name has no number in the ledger, but in its name. The range (`\`` follows
 * `_`) lets the index serve.
 */
export function isNamedFor(
  eb: FileExpressions,
  stopNbr: string,
): ExpressionWrapper<Tables, "files", SqlBool> {
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

export async function companyIds(read: Reader, companyId: number | undefined): Promise<number[]> {
  if (companyId !== undefined) return [companyId];
  const rows = await read.selectFrom("companies").select("id").orderBy("id").execute();
  return rows.map((row) => row.id);
}

/** SQLite takes 32,766 values in one statement; a stop with more files than this shows its newest. */
const maxIds = 20_000;

/** A fault is kept as an object that begins with its code; a message cannot look like that, since its quotes are escaped. */
function hasReason(eb: FileExpressions, codes: readonly ErrorCode[]) {
  return eb.or(codes.map((code) => eb("reasons", "like", `%"code":"${code}"%`)));
}

/** Whether the column `channel` is that channel, or one of its parts. */
export function isOfChannel(channel: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(channel = ${channel} or channel like ${`${likePattern(channel)}:%`} escape '\\')`;
}

/** What a selection says of single entries, but for company, state and stop. */
export function selectionConditions(eb: FileExpressions, selection: FileSelection) {
  const { since, until, name, reasons, channel, userName, isPruned = false } = selection;
  return eb.and([
    ...(isPruned ? [eb("pruned_days", "is not", null)] : []),
    ...(since === undefined ? [] : [eb("received_at", ">=", since)]),
    ...(until === undefined ? [] : [eb("received_at", "<", until)]),
    ...(name === undefined ? [] : [isOfName("name", name)]),
    ...(reasons === undefined ? [] : [hasReason(eb, reasons)]),
    ...(channel === undefined ? [] : [isOfChannel(channel)]),
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

/** The entries that match, as far as they come before or after one, with one query for each index that serves. */
async function queriesOf(read: Reader, selection: FileSelection, page: { before?: number; after?: number }) {
  let query = read.selectFrom("files").where((eb) => selectionConditions(eb, selection));
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  if (page.after !== undefined) query = query.where("id", ">", page.after);
  const { states, stopNbr, companyId, name } = selection;
  if (stopNbr !== undefined) {
    const ids = await idsOfStop(read, await companyIds(read, companyId), stopNbr);
    const newest = ids.toSorted((one, other) => other - one).slice(0, maxIds);
    if (newest.length === 0) return [];
    query = query.where("id", "in", newest);
    return [states === undefined ? query : query.where("state", "in", [...states])];
  }
  // All companies by their ids, where a name is given: its index begins with the company. Elsewhere that index is kept
  // away (`+`): it would have all entries of the company sorted for the newest fifty.
  if (name !== undefined && isServedByIndex(name))
    query = query.where("company_id", "in", await companyIds(read, companyId));
  else if (companyId !== undefined) query = query.where(sql<SqlBool>`${unindexed}company_id = ${companyId}`);
  if (states === undefined) return [query];
  return stateGroupsOf(states).map((group) => {
    const ofStates = query.where("state", "in", [...group.states]);
    return group.condition === undefined ? ofStates : ofStates.where(group.condition);
  });
}

/** Entries of the selection, the newest first; those before an entry when it is given. */
export async function listFiles(
  read: Reader,
  selection: FileSelection & { readonly beforeId?: number; readonly limit: number },
): Promise<readonly LedgerEntry[]> {
  const { beforeId, limit } = selection;
  const found: LedgerEntry[] = [];
  for (const query of await queriesOf(read, selection, given({ before: beforeId }))) {
    const rows = await query.selectAll().orderBy("id", "desc").limit(limit).execute();
    found.push(...rows.map(toLedgerEntry));
  }
  return found.toSorted((one, other) => other.id - one.id).slice(0, limit);
}

/** How many entries the selection has. */
export async function countFiles(read: Reader, selection: FileSelection): Promise<number> {
  let count = 0;
  for (const query of await queriesOf(read, selection, {})) {
    const row = await query.select((eb) => eb.fn.countAll<number>().as("count")).executeTakeFirst();
    count += Number(row?.count ?? 0);
  }
  return count;
}

/** The ids of the selection after one and up to another, the oldest first. */
export async function listFileIds(
  read: Reader,
  selection: FileSelection,
  page: { readonly afterId: number; readonly upToId: number; readonly limit: number },
): Promise<readonly number[]> {
  const found: number[] = [];
  for (const query of await queriesOf(read, selection, { after: page.afterId })) {
    const inPage = query.select("id").where("id", "<=", page.upToId).orderBy("id").limit(page.limit);
    found.push(...(await inPage.execute()).map(({ id }) => id));
  }
  return found.toSorted((one, other) => one - other).slice(0, page.limit);
}
