/** What host developers see of their company: its last receipts, and its integrations. */
import type { Config } from "../../../config/schema.ts";
import { decidedStates, isDecidedState } from "../../../domain/files/file-state.ts";
import { isSameCompanyCode } from "../../../domain/users/company-code.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  HostAsked,
  HostFound,
  HostReceipt,
} from "../../../endpoints/http/console/pages/hosts/hosts-view.ts";
import { given } from "../../../lib/given.ts";
import { readFilePage } from "../../../store/ledger/file-pages.ts";
import type { PageSelection } from "../../../store/ledger/file-ways.ts";
import type { LedgerEntry } from "../../../store/ledger/files.ts";
import type { QueryContext } from "../query-context.ts";
import { hasTimeToSearch, placeText, readPlace } from "./file-places.ts";

const mostReceipts = 50;

function receiptOf({ ledgerNumbers }: QueryContext, entry: LedgerEntry): readonly HostReceipt[] {
  const { id, name, state, receivedAt, decidedAt, userName, faults } = entry;
  if (!isDecidedState(state)) return [];
  return [{ reference: ledgerNumbers.seal(id), name, state, receivedAt, decidedAt, userName, faults }];
}

function integrationsOf({ integrations }: Config, companyCode: string): readonly string[] {
  const mayUse = (companies: readonly string[] | undefined) =>
    companies === undefined || companies.some((code) => isSameCompanyCode(code, companyCode));
  return Object.entries(integrations).flatMap(([name, { companies }]) => (mayUse(companies) ? [name] : []));
}

function selectionOf(companyId: number, userName: string | undefined): PageSelection {
  return { companyIds: [companyId], states: decidedStates, ...given({ userName }) };
}

/** Undefined for a company that is not in the scope. */
export async function queryHosts(
  context: QueryContext,
  scope: Scope,
  { companyId, userName, before }: HostAsked,
): Promise<HostFound | undefined> {
  const company = scope.companies.find(({ id }) => id === companyId);
  if (company === undefined) return undefined;
  const page = await readFilePage(context.read, selectionOf(companyId, userName), {
    ...{ direction: "older", limit: mostReceipts + 1, hasTime: hasTimeToSearch(context) },
    ...given({ from: readPlace(context.ledgerNumbers, before) }),
  });
  const entries = page.entries.slice(0, mostReceipts);
  const last = page.searchedTo ?? (page.entries.length > mostReceipts ? entries.at(-1) : undefined);
  return {
    receipts: entries.flatMap((entry) => receiptOf(context, entry)),
    before: last === undefined ? undefined : placeText(context.ledgerNumbers, last),
    searchedTo: page.searchedTo?.receivedAt,
    integrations: integrationsOf(context.config, company.code),
  };
}
