/** Files by the beginning of a name or of a SHA-256, for the console: by an index, and bounded. */
import { sql } from "kysely";
import type { Reader } from "../database/database.ts";
import { type Beginning, beginsWith, findNewestByName, newestOf } from "../database/name-pattern.ts";
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
const idsAtOnce = 200_000;

export interface ContentAsked {
  readonly companyIds: readonly number[];
  /** Eight digits at least, lower case. */
  readonly sha256: string;
  readonly limit: number;
  hasTime(): boolean;
}

/** The newest entries whose SHA-256 begins so. Looks through the index from the newest entry back, as long as there is time. */
export async function findFilesByContent(
  read: Reader,
  { companyIds, sha256, limit, hasTime }: ContentAsked,
): Promise<{ readonly entries: readonly LedgerEntry[]; readonly searchedTo: number | undefined }> {
  const last = await read.selectFrom("files").select("id").orderBy("id", "desc").limit(1).executeTakeFirst();
  const ids: number[] = [];
  for (let before = (last?.id ?? 0) + 1; before > 0; before -= idsAtOnce) {
    if (ids.length >= limit || !hasTime()) {
      const entries = await readFiles(read, newestOf(ids, limit));
      return { entries, searchedTo: ids.length >= limit ? undefined : await timeOf(read, before) };
    }
    const rows = await read
      .selectFrom("files")
      .select("id")
      .where("company_id", "in", [...companyIds])
      .where("id", "<", before)
      .where("id", ">=", before - idsAtOnce)
      .where("sha256", "is not", null)
      .where(sql<boolean>`substr(sha256, 1, ${sql.lit(indexedDigits)}) = ${sha256.slice(0, indexedDigits)}`)
      .where(beginsWith("+sha256", sha256))
      .execute();
    ids.push(...rows.map(({ id }) => id));
  }
  return { entries: await readFiles(read, newestOf(ids, limit)), searchedTo: undefined };
}

/** When the entry before that id arrived. */
async function timeOf(read: Reader, before: number): Promise<number> {
  const row = await read
    .selectFrom("files")
    .select("received_at")
    .where("id", "<", before)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.received_at ?? 0;
}
