import { sql } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { companiesWithDeliveries, companiesWithRecords } from "./record-retention.ts";
import { insertCompany } from "../accounts/companies.ts";
import { openStore, type Store } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";

/** The columns of a table that need a value, besides the company. */
const needed: Readonly<Record<string, string>> = {
  completions:
    "stop_nbr name format embeds_documents trigger_code first_event_id last_event_id stop_status body execution driver created_at",
  exports: "name sequence_nbr after_completion_id last_completion_id form created_at",
  messages: "stop_nbr event_code channel address facts created_at",
  message_etas: "stop_nbr load_id eta_at",
  appointments:
    "region slot_key starts_at state created_at updated_at quantity weight volume service_minutes",
  imports: "guid service_name user_name received_at",
};

/** A row with 1 wherever there must be something. */
async function insertRow(tx: Transaction, table: string, companyId: number): Promise<void> {
  const columns = needed[table]?.split(" ") ?? [];
  const names = ["company_id", ...columns].map((name) => sql.ref(name));
  const values = [companyId, ...columns.map(() => 1)];
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
