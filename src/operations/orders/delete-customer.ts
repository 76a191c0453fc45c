/** Deletes a customer (specification/gateway.md#imports). An import brings it back. */
import { Type } from "@sinclair/typebox";
import { identifier } from "../../domain/fields/fields.ts";
import { removeCustomer } from "../../store/accounts/customers.ts";
import { customerNotFound } from "../not-found.ts";
import type { WriteDeps } from "../operation-deps.ts";
import { type CompanyBody, createBodyReader } from "../request-body.ts";

export const CustomerDeletion = Type.Object({ accountNumber: identifier("accountNumber") });

const readDeletion = createBodyReader(CustomerDeletion);

/** Removes the customer that the body names. Throws 924, or the faults of the body. */
export async function deleteCustomer({ store }: Pick<WriteDeps, "store">, input: CompanyBody): Promise<void> {
  const { accountNumber } = readDeletion(input);
  const { companyId } = input;
  const isRemoved = await store.write(companyId, (tx) => removeCustomer(tx, { companyId, accountNumber }));
  if (!isRemoved) throw customerNotFound(accountNumber);
}
