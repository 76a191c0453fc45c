/** Get customer detail: the customer as the host sent it last (specification/resources.md#retrieval-documents). */
import type { Reader } from "../../store/database/database.ts";
import { readCustomer } from "../../store/accounts/customers.ts";
import { customerNotFound } from "../not-found.ts";

export interface CustomerDetailDeps {
  readonly store: { readonly read: Reader };
}

export interface CustomerDetailQuery {
  readonly companyId: number;
  readonly accountNumber: string;
}

/** The retrieval document as JSON text. Throws 924 when the company has no customer of exactly that number. */
export async function readCustomerDetail(
  deps: CustomerDetailDeps,
  query: CustomerDetailQuery,
): Promise<string> {
  const customer = await readCustomer(deps.store.read, query.companyId, query.accountNumber);
  if (customer === undefined) throw customerNotFound(query.accountNumber);
  return `{"Customer":[${customer}]}`;
}
