/** Registering companies, as an administrator of the machine does it. */
import { faultOfCompanyCode } from "../../domain/users/company-code.ts";
import { DropgateError } from "../../lib/errors.ts";
import { type CompanyField, companyFields, faultOfCompanyField } from "../../domain/users/company-profile.ts";
import {
  type Company,
  findCompany,
  insertCompany,
  saveCompanyFields,
} from "../../store/accounts/companies.ts";
import type { WriteDeps } from "../operation-deps.ts";

/** Throws `wrongType` when a company cannot have the code. */
export function checkCompanyCode(code: string): void {
  const fault = faultOfCompanyCode(code);
  if (fault !== undefined) throw new DropgateError("wrongType", fault);
}

/**
 * Registers a company. Adding it again changes nothing and answers with the company as it was registered first.
 * Rejects with `wrongType` when the code is not of the form.
 */
export async function addCompany(
  deps: WriteDeps,
  code: string,
): Promise<{ readonly company: Company; readonly isNew: boolean }> {
  checkCompanyCode(code);
  return await deps.store.write("site", (tx) => insertCompany(tx, { code, createdAt: deps.clock.now() }));
}

/** Values by field; an empty text takes the field away, one that is not there stays as it is. */
export type CompanyChange = Readonly<Partial<Record<CompanyField, string>>>;

/**
 * What is to be stored of a change, null for what is taken away. Throws `wrongType` with all faults of the values.
 */
export function readCompanyChange(
  change: CompanyChange,
): Readonly<Partial<Record<CompanyField, string | null>>> {
  const given = companyFields.flatMap((field) => {
    const value = change[field]?.trim();
    return value === undefined ? [] : [{ field, value }];
  });
  const faults = given.flatMap(({ field, value }) => faultOfCompanyField(field, value) ?? []);
  if (faults.length > 0) throw new DropgateError("wrongType", faults.join("; "));
  return Object.fromEntries(given.map(({ field, value }) => [field, value === "" ? null : value]));
}

/**
 * Sets name and address of the company of that code, in any case; gives it as it is then, undefined when there is none.
 * Rejects with `wrongType` and all faults of the values.
 */
export async function setCompany(
  deps: Pick<WriteDeps, "store">,
  code: string,
  change: CompanyChange,
): Promise<Company | undefined> {
  const fields = readCompanyChange(change);
  return await deps.store.write("site", async (tx) => {
    const known = await findCompany(tx, code);
    if (known !== undefined) await saveCompanyFields(tx, known.id, fields);
    return await findCompany(tx, code);
  });
}
