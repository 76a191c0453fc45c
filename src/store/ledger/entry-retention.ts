/**
 * Entries of the ledger that are removed because of their age. What the proof of the ledger needs of them is kept: their
 * numbers by state, in the transaction that removes them.
 */
import { sql } from "kysely";
import { decidedStates, type DecidedState, isDecidedState } from "../../domain/files/file-state.ts";
import { givenIds, greater, madeEntries } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import { forgetFaults } from "./daily-files.ts";
import type { AgingFile } from "./file-retention.ts";

export type PrunedEntries = RowOf<"pruned_entries">;

/** By the ids of the companies. */
export async function listPrunedEntries(read: Reader): Promise<ReadonlyMap<number, PrunedEntries>> {
  const rows = await read
    .selectFrom("pruned_entries")
    .select(namedColumns("company_id", ...decidedStates))
    .select(namedColumns("decided_until", "pruned_at", "pruned_days"))
    .execute();
  return new Map(rows.map((row) => [row.companyId, row]));
}

/** The same of each company of which some were removed, by its code. */
export async function listForgotten(
  read: Reader,
  companyId?: number,
): Promise<
  readonly (Pick<PrunedEntries, "decidedUntil" | "prunedAt" | "prunedDays"> & { company: string })[]
> {
  const query = read
    .selectFrom("pruned_entries as p")
    .innerJoin("companies as c", "c.id", "p.company_id")
    .select("c.code as company")
    .select(namedColumns("p.decided_until", "p.pruned_at", "p.pruned_days"))
    .orderBy("c.code");
  return await (companyId === undefined ? query : query.where("p.company_id", "=", companyId)).execute();
}

/** How many of the entries were removed. */
export function countPruned(pruned: ReadonlyMap<number, PrunedEntries>): number {
  let count = 0;
  for (const one of pruned.values()) for (const state of decidedStates) count += one[state];
  return count;
}

/**
 * How many entries were ever made, and how many numbers up to the first removal had none, where each entry has the next
 * number; undefined when the state does not know it.
 */
export async function countMade(
  read: Reader,
): Promise<{ readonly made: number; readonly gaps: number } | undefined> {
  const { rows } = await sql<{
    made: number;
    gaps: number;
  }>`select made, gaps from ${madeEntries} as entries`.execute(read);
  return rows[0];
}

/** The id of the newest entry that there ever was. */
export async function newestFileId(read: Reader): Promise<number> {
  const { rows } = await sql<{ seq: number }>`select seq from ${givenIds} where name = 'files'`.execute(read);
  return rows[0]?.seq ?? 0;
}

/** Those of the entries that a duplicate refers to which is kept. It has the same name. */
export async function findReferred(
  read: Reader,
  { companyId, files }: { readonly companyId: number; readonly files: readonly AgingFile[] },
): Promise<ReadonlySet<number>> {
  const rows = await read
    .selectFrom("files")
    .select(["id", "first_id"])
    .where("company_id", "=", companyId)
    .where("name", "in", [...new Set(files.map(({ name }) => name))])
    .where("first_id", "is not", null)
    .execute();
  return new Set(rows.map((row) => row.first_id ?? 0));
}

/**
 * Which of the names belong to files that a remote has noted as taken and whose place is still to be looked up in the
 * ledger, with the entry after which it is.
 */
export async function listAwaited(
  read: Reader,
  { companyId, names }: { readonly companyId: number; readonly names: readonly string[] },
): Promise<readonly { readonly name: string; readonly afterFileId: number }[]> {
  return await read
    .selectFrom("remote_files")
    .select(namedColumns("name", "after_file_id"))
    .where("company_id", "=", companyId)
    .where("remote", "in", await listRemotes(read, companyId))
    .where("name", "in", [...new Set(names)])
    .where("state", "=", "taken")
    .execute();
}

/** From one to the next by the index: a remote may have a million names. */
async function listRemotes(read: Reader, companyId: number): Promise<readonly string[]> {
  const remotes: string[] = [];
  for (;;) {
    const row = await read
      .selectFrom("remote_files")
      .select("remote")
      .where("company_id", "=", companyId)
      .where("remote", ">", remotes.at(-1) ?? "")
      .orderBy("remote")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return remotes;
    remotes.push(row.remote);
  }
}

function countsOf(files: readonly AgingFile[]): Record<DecidedState, number> {
  const counts = Object.fromEntries(decidedStates.map((state) => [state, 0])) as Record<DecidedState, number>;
  for (const { state } of files) if (isDecidedState(state)) counts[state] += 1;
  return counts;
}

/** Removes entries of one company, with what refers to them, and counts them. */
export async function removeEntries(
  tx: Transaction,
  {
    companyId,
    files,
    now,
    days,
  }: { companyId: number; files: readonly AgingFile[]; now: number; days: number },
): Promise<void> {
  const ids = files.map(({ id }) => id);
  await forgetFaults(tx, ids);
  await tx.deleteFrom("file_stops").where("file_id", "in", ids).execute();
  await tx.deleteFrom("file_repeats").where("file_id", "in", ids).execute();
  const { numDeletedRows } = await tx.deleteFrom("files").where("id", "in", ids).executeTakeFirstOrThrow();
  if (Number(numDeletedRows) !== ids.length) throw new Error("entries to be removed are not there any more");
  const counts = countsOf(files);
  const until = Math.max(...files.map(({ decidedAt }) => decidedAt));
  await tx
    .insertInto("pruned_entries")
    .values({ company_id: companyId, ...counts, decided_until: until, pruned_at: now, pruned_days: days })
    .onConflict((conflict) =>
      conflict.column("company_id").doUpdateSet(({ eb, ref }) => ({
        applied: eb(ref("pruned_entries.applied"), "+", counts.applied),
        refused: eb(ref("pruned_entries.refused"), "+", counts.refused),
        duplicate: eb(ref("pruned_entries.duplicate"), "+", counts.duplicate),
        superseded: eb(ref("pruned_entries.superseded"), "+", counts.superseded),
        decided_until: sql<number>`${greater}(pruned_entries.decided_until, ${until})`,
        ...{ pruned_at: now, pruned_days: days },
      })),
    )
    .execute();
}
