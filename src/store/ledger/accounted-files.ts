/** What the verification of the ledger, and a backup, ask of its entries. */
import { type FileState, isFileState } from "../../domain/files/file-state.ts";
import type { Reader } from "../database/database.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import type { LedgerEntry } from "./files.ts";

/** What the verification of the ledger needs of an entry. */
export interface AccountedFile extends Pick<LedgerEntry, AccountedValue> {
  /** Undefined for a state that does not exist. */
  readonly state: FileState | undefined;
  readonly stateText: string;
  readonly isRemoved: boolean;
  /** Removed because of its age. */
  readonly isPruned: boolean;
  /** About to be removed because of its age: the bytes may be there or not. */
  readonly isPruning: boolean;
}

type FileValue = "id" | "companyId" | "name" | "sha256" | "size" | "channel" | "firstId";
type AccountedValue = FileValue | "source" | "location" | "isFiled";

function selectAccounted(read: Reader) {
  return read
    .selectFrom("files")
    .select(namedColumns("id", "company_id", "name", "sha256", "size", "state", "channel"))
    .select(
      namedColumns("source", "location", "is_filed", "first_id", "removed_at", "pruned_days", "is_pruning"),
    );
}

type AccountedRow = Awaited<ReturnType<ReturnType<typeof selectAccounted>["execute"]>>[number];

/** Value by value: copying an object costs several times as much, and a ledger has millions of entries. */
function toAccountedFile(row: AccountedRow): AccountedFile {
  const { id, companyId, name, sha256, size, channel, source, location, firstId } = row;
  const state = isFileState(row.state) ? row.state : undefined;
  const [stateText, isFiled, isRemoved] = [row.state, row.isFiled === 1, row.removedAt !== null];
  return {
    id,
    companyId,
    name,
    sha256,
    size,
    channel,
    source,
    location,
    firstId,
    state,
    stateText,
    isFiled,
    isRemoved,
    isPruned: row.prunedDays !== null,
    isPruning: row.isPruning === 1,
  };
}

/** One page of the whole ledger, by id; `isPresent`: without entries whose bytes were removed for certain. */
export async function listAccountedFiles(
  read: Reader,
  page: { readonly afterId: number; readonly limit: number; readonly isPresent?: true },
): Promise<readonly AccountedFile[]> {
  let query = selectAccounted(read).where("id", ">", page.afterId).orderBy("id").limit(page.limit);
  if (page.isPresent === true)
    query = query.where((eb) => eb.or([eb("removed_at", "is", null), eb("is_pruning", "=", 1)]));
  return (await query.execute()).map(toAccountedFile);
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

/**
 * Which of the locations an entry has, even one whose bytes a user has removed; not one whose bytes were removed because of
 * their age.
 */
export async function findAccountedLocations(
  read: Reader,
  locations: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await read
    .selectFrom("files")
    .select("location")
    .where("location", "in", [...locations])
    .where((eb) => eb.or([eb("pruned_days", "is", null), eb("is_pruning", "=", 1)]))
    .execute();
  return new Set(rows.map((row) => row.location));
}

/** What the sums of the ledger need of an entry. */
export type CountedFile = Pick<RowOf<"files">, "id" | "companyId" | "name" | "location"> & {
  readonly state: string;
};

/** One page of the whole ledger, by id. */
export async function listCountedFiles(
  read: Reader,
  page: { readonly afterId: number; readonly limit: number },
): Promise<readonly CountedFile[]> {
  return await read
    .selectFrom("files")
    .select(namedColumns("id", "company_id", "name", "location", "state"))
    .where("id", ">", page.afterId)
    .orderBy("id")
    .limit(page.limit)
    .execute();
}
