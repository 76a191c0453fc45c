/** Files by the beginning of a name or of a SHA-256, for the console: by an index, and bounded. */
import { sql } from "kysely";
import { unindexed } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import { type Beginning, beginsWith, findNewestByName, newestOf } from "../database/searches/name-pattern.ts";
import { type LedgerEntry, toLedgerEntry } from "./files.ts";

async function readFiles(read: Reader, ids: readonly number[]): Promise<readonly LedgerEntry[]> {
  if (ids.length === 0) return [];
  const rows = await read
    .selectFrom("files")
    .selectAll()
    .where("id", "in", [...ids])
    .orderBy("id", "desc")
    .execute();
  return rows.map(toLedgerEntry);
}

/** The newest entries whose names begin so; `isCut` when there are more. Of very many, some are not looked at. */
export async function findFilesByName(
  read: Reader,
  asked: Beginning,
): Promise<{ readonly entries: readonly LedgerEntry[]; readonly isCut: boolean }> {
  const { ids, isCut } = await findNewestByName(read, "files", asked);
  return { entries: await readFiles(read, ids), isCut };
}

/** As many digits of a SHA-256 as the index has. */
export const indexedDigits = 8;
/** So many entries are looked through at once. */
const idsAtOnce = 100_000;

export interface ContentAsked {
  readonly companyIds: readonly number[];
  /** Eight digits at least, lower case. */
  readonly sha256: string;
  readonly limit: number;
  /** The newest entry that an earlier search has not looked at; the newest of all unless given. */
  readonly fromId?: number;
  /** Whether there is still time for another part. */
  hasTime(): boolean;
}

export interface FoundContent {
  readonly entries: readonly LedgerEntry[];
  /** Set when the time was over: the newest entry that was not looked at. */
  readonly goesOnAt: Pick<LedgerEntry, "id" | "receivedAt"> | undefined;
}

/** The newest entries whose SHA-256 begins so. Looks through the index from the newest entry back, as long as there is time. */
export async function findFilesByContent(
  read: Reader,
  { companyIds, sha256, limit, fromId, hasTime }: ContentAsked,
): Promise<FoundContent> {
  const ids: number[] = [];
  for (let before = (fromId ?? (await lastId(read))) + 1; before > 0; before -= idsAtOnce) {
    const rows = await read
      .selectFrom("files")
      .select("id")
      .where("company_id", "in", [...companyIds])
      .where("id", "<", before)
      .where("id", ">=", before - idsAtOnce)
      .where("sha256", "is not", null)
      .where(sql<boolean>`substr(sha256, 1, ${sql.lit(indexedDigits)}) = ${sha256.slice(0, indexedDigits)}`)
      .where(beginsWith(sql`${unindexed}sha256`, sha256))
      .execute();
    ids.push(...rows.map(({ id }) => id));
    if (ids.length >= limit)
      return { entries: await readFiles(read, newestOf(ids, limit)), goesOnAt: undefined };
    const goesOnAt = hasTime() ? undefined : await newestBefore(read, before - idsAtOnce);
    if (goesOnAt !== undefined) return { entries: await readFiles(read, newestOf(ids, limit)), goesOnAt };
  }
  return { entries: await readFiles(read, newestOf(ids, limit)), goesOnAt: undefined };
}

async function lastId(read: Reader): Promise<number> {
  const last = await read.selectFrom("files").select("id").orderBy("id", "desc").limit(1).executeTakeFirst();
  return last?.id ?? 0;
}

/** The newest entry before that id; undefined when there is none. */
async function newestBefore(read: Reader, id: number): Promise<FoundContent["goesOnAt"]> {
  return await read
    .selectFrom("files")
    .select(["id", "received_at as receivedAt"])
    .where("id", "<", id)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}
