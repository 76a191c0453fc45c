/**
 * Files of remotes that were taken and may be seen there again: so that each is taken once
 * (specification/file-exchange.md#remotes).
 */
import { sql } from "kysely";
import { isOpenState } from "../../domain/files/file-state.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";

/** A remote of a company, and the place that it polls: one that is moved to another server begins anew. */
export interface RemoteKey {
  readonly companyId: number;
  readonly remote: string;
}

export type RemoteFileRecord = Omit<RowOf<"remote_files">, keyof RemoteKey | "notedAt">;

/** Notes that these files are about to be placed in `inbound/`, instead of earlier notes under their names. */
export async function noteTaken(
  tx: Transaction,
  { companyId, remote }: RemoteKey,
  taken: {
    readonly files: readonly Pick<RemoteFileRecord, "name" | "size" | "modified" | "sha256">[];
    readonly at: number;
  },
): Promise<void> {
  const last = await tx
    .selectFrom("files")
    .select((eb) => eb.fn.max("id").as("last"))
    .executeTakeFirst();
  for (const { name, size, modified, sha256 } of taken.files) {
    const values = { size, modified, sha256, state: "taken" as const, noted_at: taken.at };
    const noted = { ...values, after_file_id: Number(last?.last ?? 0) };
    await tx
      .insertInto("remote_files")
      .values({ company_id: companyId, remote, name, ...noted })
      .onConflict((conflict) => conflict.columns(["company_id", "remote", "name"]).doUpdateSet(noted))
      .execute();
  }
}

/** Notes that files that were taken are to be ignored as long as they stay the same. */
export async function noteSeen(
  tx: Transaction,
  { companyId, remote }: RemoteKey,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await tx
    .updateTable("remote_files")
    .set({ state: "seen" })
    .where("company_id", "=", companyId)
    .where("remote", "=", remote)
    .where("name", "in", names)
    .execute();
}

export async function forgetRemoteFiles(
  tx: Transaction,
  { companyId, remote }: RemoteKey,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await tx
    .deleteFrom("remote_files")
    .where("company_id", "=", companyId)
    .where("remote", "=", remote)
    .where("name", "in", names)
    .execute();
}

/** The notes of these names; no more than some hundred of them. */
export async function findRemoteFiles(
  read: Reader,
  { companyId, remote }: RemoteKey,
  names: readonly string[],
): Promise<readonly RemoteFileRecord[]> {
  if (names.length === 0) return [];
  return await read
    .selectFrom("remote_files")
    .select(namedColumns("name", "size", "modified", "sha256", "state", "after_file_id"))
    .where("company_id", "=", companyId)
    .where("remote", "=", remote)
    .where("name", "in", names)
    .execute();
}

export async function countRemoteFiles(read: Reader, { companyId, remote }: RemoteKey): Promise<number> {
  const row = await read
    .selectFrom("remote_files")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("company_id", "=", companyId)
    .where("remote", "=", remote)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** The names that come after one, in the order of their bytes. */
export async function listRemoteNames(
  read: Reader,
  { companyId, remote }: RemoteKey,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await read
    .selectFrom("remote_files")
    .select("name")
    .where("company_id", "=", companyId)
    .where("remote", "=", remote)
    .where("name", ">", page.after)
    .orderBy(sql.ref("name"))
    .limit(page.limit)
    .execute();
  return rows.map(({ name }) => name);
}

/** The ledger's entries of a name after another entry. */
export interface LaterEntry {
  readonly sha256: string | null;
  readonly isWaiting: boolean;
  /** Where its bytes were when it was entered. */
  readonly source: string;
}

export async function findLaterEntries(
  read: Reader,
  key: { readonly companyId: number; readonly name: string; readonly afterFileId: number },
): Promise<readonly LaterEntry[]> {
  const rows = await read
    .selectFrom("files")
    .select(["sha256", "source", "state"])
    .where("company_id", "=", key.companyId)
    .where("name", "=", key.name)
    .where("id", ">", key.afterFileId)
    .execute();
  return rows.map(({ state, ...entry }) => ({ ...entry, isWaiting: isOpenState(state) }));
}

/** A note of a file that was taken, with the remote and place that it was taken from. */
export type RemoteNote = Pick<
  RowOf<"remote_files">,
  "remote" | "name" | "size" | "modified" | "state" | "notedAt"
>;

/** The notes of all remotes of a company about a name. */
export async function findNotesOfName(
  read: Reader,
  { companyId, name }: { readonly companyId: number; readonly name: string },
): Promise<readonly RemoteNote[]> {
  return await read
    .selectFrom("remote_files")
    .select(namedColumns("remote", "name", "size", "modified", "state", "noted_at"))
    .where("company_id", "=", companyId)
    .where("name", "=", name)
    .orderBy("remote")
    .execute();
}
