/** Which receipts hosts have collected (specification/file-exchange.md#moments). */
import { decidedStates } from "../../domain/files/file-state.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

/** A user has read the receipt of an entry to its end, or has deleted it unread. */
export interface ReceiptCollection {
  readonly companyId: number;
  /** Number of the ledger entry. */
  readonly fileId: number;
  /** Milliseconds UTC. */
  readonly at: number;
  /** The user. */
  readonly by: string;
  readonly over: "sftp" | "ftp";
  readonly isUnread: boolean;
}

type Arguments = Omit<ReceiptCollection, "isUnread"> & { readonly unread: number };

const firstCollection = prepareQuery<Arguments>((db, arg) =>
  db
    .updateTable("files")
    .set({
      receipt_collected_at: arg("at"),
      receipt_collected_by: arg("by"),
      receipt_collected_over: arg("over"),
      receipt_unread: arg("unread"),
    })
    .where("id", "=", arg("fileId"))
    .where("company_id", "=", arg("companyId"))
    .where("receipt_collected_at", "is", null)
    .where("state", "in", [...decidedStates])
    // It may have been tried again meanwhile: the receipt was that of the decision before.
    .where("decided_at", "<=", arg("at")),
);

/**
 * Records the first time that each receipt was collected; later ones change nothing, nor do those of entries that are gone,
 * or were tried again since.
 */
export async function recordReceiptCollections(
  tx: Transaction,
  collections: readonly ReceiptCollection[],
): Promise<void> {
  for (const { isUnread, ...rest } of collections)
    await firstCollection.run(tx, { ...rest, unread: isUnread ? 1 : 0 });
}
