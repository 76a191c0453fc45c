/** Imports customers, all or nothing (specification/gateway.md#imports). */
import { createCanonicalForm } from "../../domain/fields/canonical-form.ts";
import { Customer, validateCustomer } from "../../domain/order/customer.ts";
import { isFields } from "../../domain/fields/fields-of-json.ts";
import { saveCustomer } from "../../store/accounts/customers.ts";
import { inTurns, type PreparationDeps, type Prepare, preparedEntries } from "./import-preparation.ts";
import { type ImportInput, type ImportKind, readImport } from "./import-request.ts";
import type { WriteDeps } from "../operation-deps.ts";

/** The status of a customer for whom the host sends none. */
const defaultStatus = "ACTIVE";

function withStatus(value: unknown): unknown {
  return isFields(value) && value["status"] === undefined ? { ...value, status: defaultStatus } : value;
}

const canonicalCustomer = createCanonicalForm(Customer);

const customerImport: ImportKind<Customer> = {
  list: "customers",
  schema: Customer,
  normalise: (value) => withStatus(canonicalCustomer(value)),
  validate: validateCustomer,
};

/** The customers of an import as they are kept. */
export const prepareCustomers: Prepare<"customers"> = async (input) => {
  return await inTurns(await readImport(customerImport, input), async (customer) => ({
    accountNumber: customer.accountNumber,
    body: JSON.stringify(customer),
  }));
};

/**
 * Creates the customers of the request, or replaces those that are there; of two with the same number the later stays.
 * Throws a `DropgateError` with all faults; then nothing was written.
 */
export async function importCustomers(deps: PreparationDeps & WriteDeps, input: ImportInput): Promise<void> {
  const customers = await preparedEntries(deps, input, { kind: "customers", prepare: prepareCustomers });
  const { companyId } = input;
  await deps.store.write(companyId, async (tx) => {
    const now = deps.clock.now();
    for (const customer of customers) await saveCustomer(tx, { companyId, ...customer, now });
  });
}
