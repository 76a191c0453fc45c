/** Get customer detail: the customer as the host sent it last (specification/resources.md#retrieval-documents). */
import { type CustomerKey, findCustomer } from "../../store/accounts/customers.ts";
import { customerNotFound } from "../not-found.ts";
import type { ReadDeps } from "../operation-deps.ts";

/** The retrieval document as JSON text. Throws 924 when the company has no customer of exactly that number. */
export async function readCustomerDetail({ store }: ReadDeps, query: CustomerKey): Promise<string> {
  const customer = await findCustomer(store.read, query);
  if (customer === undefined) throw customerNotFound(query.accountNumber);
  return `{"Customer":[${customer.body}]}`;
}
