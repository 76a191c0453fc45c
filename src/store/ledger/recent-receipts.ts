/** The files of a company that were decided about last, as their receipts say. */
import { decidedStates } from "../../domain/files/file-state.ts";
import type { Reader } from "../database/database.ts";
import { type LedgerEntry, toLedgerEntry } from "./files.ts";

export interface ReceiptSelection {
  readonly companyId: number;
  /** Only files that this user has sent. */
  readonly userName: string | undefined;
  readonly limit: number;
}

/** Only so many of the newest files are looked through: a user who sends rarely may have none among them. */
const mostLookedThrough = 5_000;

/** The newest first, by when they came. */
export async function listRecentReceipts(
  read: Reader,
  { companyId, userName, limit }: ReceiptSelection,
): Promise<readonly LedgerEntry[]> {
  const newest = read
    .selectFrom("files")
    .selectAll()
    .where("company_id", "=", companyId)
    .orderBy("received_at", "desc")
    .limit(mostLookedThrough)
    .as("newest");
  const decided = read.selectFrom(newest).selectAll().where("state", "in", decidedStates);
  const wanted = userName === undefined ? decided : decided.where("user_name", "=", userName);
  const rows = await wanted.orderBy("received_at", "desc").limit(limit).execute();
  return rows.map(toLedgerEntry);
}
