/** Customers of companies. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

interface CustomerKey {
  readonly companyId: number;
  readonly accountNumber: string;
}

const customerByNumber = prepareQuery<CustomerKey, { body: string }>((db, arg) =>
  db
    .selectFrom("customers")
    .select("body")
    .where("company_id", "=", arg("companyId"))
    .where("account_number", "=", arg("accountNumber")),
);

/** The company's customer of exactly that number as JSON text, or undefined. */
export async function readCustomer(
  read: Reader | Transaction,
  companyId: number,
  accountNumber: string,
): Promise<string | undefined> {
  return (await customerByNumber.run(read, { companyId, accountNumber })).rows[0]?.body;
}

interface CustomerArguments extends CustomerKey {
  /** The customer as JSON text. */
  readonly body: string;
  readonly now: number;
}

const saveCustomerQuery = prepareQuery<CustomerArguments>((db, arg) =>
  db
    .insertInto("customers")
    .values({
      company_id: arg("companyId"),
      account_number: arg("accountNumber"),
      body: arg("body"),
      created_at: arg("now"),
      updated_at: arg("now"),
    })
    .onConflict((conflict) =>
      conflict.columns(["company_id", "account_number"]).doUpdateSet((set) => ({
        body: set.ref("excluded.body"),
        updated_at: set.ref("excluded.updated_at"),
      })),
    ),
);

/** Stores the customer, replacing what was stored of it before. */
export async function saveCustomer(tx: Transaction, entry: CustomerArguments): Promise<void> {
  await saveCustomerQuery.run(tx, entry);
}

const deleteCustomerQuery = prepareQuery<CustomerKey>((db, arg) =>
  db
    .deleteFrom("customers")
    .where("company_id", "=", arg("companyId"))
    .where("account_number", "=", arg("accountNumber")),
);

/** Removes the company's customer of exactly that number; false when there is none. */
export async function removeCustomer(
  tx: Transaction,
  companyId: number,
  accountNumber: string,
): Promise<boolean> {
  return (await deleteCustomerQuery.run(tx, { companyId, accountNumber })).affected === 1;
}
