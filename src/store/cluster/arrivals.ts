/** What nodes tell the one that has a company about files that they have entered for it. */
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

const addArrivals = prepareQuery<{ companyId: number; count: number }>((db, arg) =>
  db
    .updateTable("lanes")
    .set((row) => ({ arrived: row("arrived", "+", arg("count")) }))
    .where("company_id", "=", arg("companyId")),
);

/** So many files are entered: nothing of the company is decided until they are in line. */
export async function countArrivals(tx: Transaction, companyId: number, count: number): Promise<void> {
  await addArrivals.run(tx, { companyId, count });
}
