/** Customers of companies. */
import { namedArguments, type RowOf } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

export type CustomerKey = Pick<RowOf<"customers">, "companyId" | "accountNumber">;

/** The company's customer of exactly that number as JSON text, or undefined. */
export const findCustomer = prepareQuery<CustomerKey, { body: string }>((db, arg) =>
  db
    .selectFrom("customers")
    .select("body")
    .where("company_id", "=", arg("companyId"))
    .where("account_number", "=", arg("accountNumber")),
).find;

interface CustomerArguments extends CustomerKey {
  /** The customer as JSON text. */
  readonly body: string;
  readonly now: number;
}

/** Stores the customer, replacing what was stored of it before. */
export const saveCustomer = prepareQuery<CustomerArguments>((db, arg) => {
  const sent = { body: arg("body"), updated_at: arg("now") };
  return db
    .insertInto("customers")
    .values({ ...namedArguments(arg, "company_id", "account_number"), ...sent, created_at: arg("now") })
    .onConflict((conflict) => conflict.columns(["company_id", "account_number"]).doUpdateSet(excluded(sent)));
}).run;

/** Removes the company's customer of exactly that number; false when there is none. */
export const removeCustomer = prepareQuery<CustomerKey>((db, arg) =>
  db
    .deleteFrom("customers")
    .where("company_id", "=", arg("companyId"))
    .where("account_number", "=", arg("accountNumber")),
).changes;
