import { sql } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { companiesWithDeliveries, companiesWithRecords } from "./record-retention.ts";
import { insertCompany } from "../accounts/companies.ts";
import { openStore, type Store } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";

interface Column {
  readonly name: string;
  readonly notnull: number;
  readonly dflt_value: string | null;
  readonly pk: number;
}

/** A row with 1 wherever there must be something. */
async function insertRow(tx: Transaction, table: string, companyId: number): Promise<void> {
  const { rows } = await sql<Column>`select * from pragma_table_info(${table})`.execute(tx);
  const needed = rows.filter(({ name, notnull, dflt_value, pk }) => {
    return name !== "company_id" && name !== "id" && dflt_value === null && (notnull === 1 || pk > 0);
  });
  const names = ["company_id", ...needed.map(({ name }) => name)].map((name) => sql.ref(name));
  const values = [companyId, ...needed.map(() => 1)];
  await sql`pragma defer_foreign_keys = on`.execute(tx);
  await sql`insert into ${sql.table(table)} (${sql.join(names)}) values (${sql.join(values)})`.execute(tx);
}

class Undone extends Error {}

async function concernedBy(store: Store, table: string, companyId: number) {
  const found = { deliveries: [] as number[], records: [] as number[] };
  const insertAndLook = store.write("site", async (tx) => {
    await insertRow(tx, table, companyId);
    found.deliveries = [...(await companiesWithDeliveries(tx))];
    found.records = [...(await companiesWithRecords(tx))];
    throw new Undone();
  });
  await expect(insertAndLook).rejects.toBeInstanceOf(Undone);
  return found;
}

it.each([
  ["completions", { deliveries: [2], records: [] }],
  ["exports", { deliveries: [2], records: [] }],
  ["messages", { deliveries: [2], records: [] }],
  ["message_etas", { deliveries: [2], records: [] }],
  ["appointments", { deliveries: [], records: [2] }],
  ["imports", { deliveries: [], records: [2] }],
])("a company with a row in %s is looked through, and no other", async (table, expected) => {
  const store = await openStore(temporaryFolder());
  onTestFinished(() => store.close());
  for (const code of ["ACME", "BETA", "GAMMA"])
    await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
  expect(await concernedBy(store, table, 2)).toEqual(expected);
});
