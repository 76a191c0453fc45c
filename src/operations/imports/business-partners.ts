/** Imports business partners, all or nothing (specification/gateway.md#imports). */
import { BusinessPartner, validateBusinessPartner } from "../../domain/order/business-partner.ts";
import { createCanonicalForm } from "../../domain/fields/canonical-form.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { isPartner, savePartner } from "../../store/accounts/partners.ts";
import { type PreparationDeps, type Prepare, preparedEntries } from "./import-preparation.ts";
import { type ImportInput, type ImportKind, readImport } from "./import-request.ts";
import type { WriteDeps } from "../operation-deps.ts";

export interface BusinessPartnersOutcome {
  readonly kind: "imported";
  readonly created: number;
  readonly updated: number;
}

const partnerImport: ImportKind<BusinessPartner> = {
  list: "businessPartners",
  schema: BusinessPartner,
  normalise: createCanonicalForm(BusinessPartner),
  validate: validateBusinessPartner,
};

/** In the order of the request: of two entries with the same code the later one stays. */
async function writePartners(
  tx: Transaction,
  entry: { companyId: number; partners: readonly BusinessPartner[]; now: number },
): Promise<BusinessPartnersOutcome> {
  const { companyId, now } = entry;
  let created = 0;
  for (const partner of entry.partners) {
    if (!(await isPartner(tx, companyId, partner.partnerCode))) created += 1;
    await savePartner(tx, { companyId, partner, now });
  }
  return { kind: "imported", created, updated: entry.partners.length - created };
}

/** The partners of an import, checked. */
export const preparePartners: Prepare<"businessPartners"> = (input) => readImport(partnerImport, input);

/** Creates or updates the partners of the request. Throws a `DropgateError` with all faults; then nothing was written. */
export async function importBusinessPartners(
  deps: PreparationDeps & WriteDeps,
  input: ImportInput,
): Promise<BusinessPartnersOutcome> {
  const partners = await preparedEntries(deps, input, {
    kind: "businessPartners",
    prepare: preparePartners,
  });
  const { companyId } = input;
  return await deps.store.write(companyId, (tx) =>
    writePartners(tx, { companyId, partners, now: deps.clock.now() }),
  );
}
