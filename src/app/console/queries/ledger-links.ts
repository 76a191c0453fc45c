/** How queries name entries of the ledger and places for a company: by references, and without places of this machine. */
import { basename } from "node:path";
import type { DeliveryLink, FileLink } from "../../../endpoints/http/console/pages/file/file-view.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import { isSameCompanyCode } from "../../../domain/users/company-code.ts";
import type { Naming } from "../../../inbound/explain/naming.ts";
import { findFile, type LedgerEntry } from "../../../store/ledger/files.ts";
import type { ListedDelivery } from "../../../store/outbound/delivery-queries.ts";
import type { QueryContext } from "../query-context.ts";

export type ScopedCompany = Scope["companies"][number];

/** The company of that code, when the user may see it. */
export function companyOfScope(scope: Scope, code: string): ScopedCompany | undefined {
  return scope.companies.find((company) => isSameCompanyCode(company.code, code));
}

export interface FoundEntry {
  readonly entry: LedgerEntry;
  readonly company: ScopedCompany;
}

/** The entry of a reference, when the user may see it. */
export async function entryOfReference(
  { read, ledgerNumbers }: Pick<QueryContext, "read" | "ledgerNumbers">,
  scope: Scope,
  reference: string,
): Promise<FoundEntry | undefined> {
  const id = ledgerNumbers.open(reference);
  const entry = id === undefined ? undefined : await findFile(read, id);
  const company = scope.companies.find((one) => one.id === entry?.companyId);
  return entry === undefined || company === undefined ? undefined : { entry, company };
}

export function fileLinkOf(
  { ledgerNumbers }: Pick<QueryContext, "ledgerNumbers">,
  { id, name, state, receivedAt }: Pick<LedgerEntry, "id" | "name" | "state" | "receivedAt">,
): FileLink {
  return { reference: ledgerNumbers.seal(id), name, state, receivedAt };
}

export function deliveryLinkOf(delivery: ListedDelivery): DeliveryLink {
  const { guid, kind, name, target, state, createdAt, deliveredAt, collectedAt } = delivery;
  const { dueAt, attempts, faultText } = delivery;
  return { guid, kind, name, target, state, createdAt, deliveredAt, collectedAt, dueAt, attempts, faultText };
}

/** For people of a company: references instead of numbers, names instead of places of this machine. */
export function companyNaming({
  stateDir,
  ledgerNumbers,
}: Pick<QueryContext, "stateDir" | "ledgerNumbers">): Naming {
  return {
    entry: (id) => `entry ${ledgerNumbers.seal(id)}`,
    path: (path) => basename(path),
    message: (text) => text.replaceAll(`${stateDir}/`, ""),
  };
}
