/** Registering companies, as an administrator of the machine does it. */
import { faultOfCompanyCode } from "../domain/company-code.ts";
import type { Clock } from "../lib/clock.ts";
import { DropgateError } from "../lib/errors.ts";
import { type Company, insertCompany } from "../store/companies.ts";
import type { Store } from "../store/database.ts";

export interface CompanyAdminDeps {
  readonly store: Pick<Store, "write">;
  readonly clock: Clock;
}

/**
 * Registers a company. Adding it again changes nothing and answers with the company as it was registered first.
 * Rejects with `wrongType` when the code is not of the form.
 */
export async function addCompany(
  deps: CompanyAdminDeps,
  code: string,
): Promise<{ readonly company: Company; readonly isNew: boolean }> {
  const fault = faultOfCompanyCode(code);
  if (fault !== undefined) throw new DropgateError("wrongType", fault);
  return await deps.store.write((tx) => insertCompany(tx, { code, createdAt: deps.clock.now() }));
}
