/** Which stops a file names besides its first, which stands in its ledger entry: for documents with several alone. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

interface FileStop {
  readonly companyId: number;
  readonly stopNbr: string;
  readonly fileId: number;
}

const insertFileStop = prepareQuery<FileStop>((db, arg) =>
  db
    .insertInto("file_stops")
    .values({ company_id: arg("companyId"), stop_nbr: arg("stopNbr"), file_id: arg("fileId") })
    // A file that is tried again names the same stops again.
    .onConflict((conflict) => conflict.doNothing()),
);

/** Notes the later stops of a file, each once. */
export async function noteLaterStops(
  tx: Transaction,
  file: { readonly companyId: number; readonly fileId: number; readonly stopNbrs: readonly string[] },
): Promise<void> {
  const { companyId, fileId } = file;
  for (const stopNbr of new Set(file.stopNbrs)) await insertFileStop.run(tx, { companyId, stopNbr, fileId });
}

/** Ledger ids of the files that name one of these stops, though not as their first. */
export async function findFilesOfLaterStops(
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
