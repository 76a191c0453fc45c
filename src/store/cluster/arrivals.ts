/** What nodes tell the one that has a company about files that they have entered for it. */
import type { Transaction } from "../database/group-commit.ts";

/** So many files are entered: nothing of the company is decided until they are in line. */
export async function countArrivals(tx: Transaction, companyId: number, count: number): Promise<void> {
  await tx
    .updateTable("lanes")
    .set((row) => ({ arrived: row("arrived", "+", count) }))
    .where("company_id", "=", companyId)
    .execute();
}
