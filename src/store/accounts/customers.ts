/** Customers of companies. */
import type { Reader } from "../database/database.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

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
export function readCustomer(
  read: Reader,
  companyId: number,
  accountNumber: string,
): Promise<string | undefined> {
  return customerByNumber.first(read, { companyId, accountNumber }, ({ body }) => body);
}

interface CustomerArguments extends CustomerKey {
  /** The customer as JSON text. */
  readonly body: string;
  readonly now: number;
}

/** Stores the customer, replacing what was stored of it before. */
export const saveCustomer = prepareQuery<CustomerArguments>((db, arg) => {
  const sent = { body: arg("body"), updated_at: arg("now") };
  const key = { company_id: arg("companyId"), account_number: arg("accountNumber") };
  return db
    .insertInto("customers")
    .values({ ...key, ...sent, created_at: arg("now") })
    .onConflict((conflict) => conflict.columns(["company_id", "account_number"]).doUpdateSet(excluded(sent)));
}).run;

/** Removes the company's customer of exactly that number; false when there is none. */
export const removeCustomer = prepareQuery<CustomerKey>((db, arg) =>
  db
    .deleteFrom("customers")
    .where("company_id", "=", arg("companyId"))
    .where("account_number", "=", arg("accountNumber")),
).changes;
