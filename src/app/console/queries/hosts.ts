/** What host developers see of their company: its last receipts, and where to send to. */
import { companySettingsOf } from "../../../config/company-settings.ts";
import type { Config } from "../../../config/schema.ts";
import { isDecidedState } from "../../../domain/files/file-state.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  HostAsked,
  HostFound,
  HostReceipt,
  HostServers,
} from "../../../endpoints/http/console/pages/hosts/hosts-view.ts";
import type { LedgerEntry } from "../../../store/ledger/files.ts";
import { listRecentReceipts } from "../../../store/ledger/recent-receipts.ts";
import type { QueryContext } from "../query-context.ts";

const mostReceipts = 50;

function receiptOf({ ledgerNumbers }: QueryContext, entry: LedgerEntry): readonly HostReceipt[] {
  const { id, name, state, receivedAt, decidedAt, userName, faults } = entry;
  if (!isDecidedState(state)) return [];
  return [{ reference: ledgerNumbers.seal(id), name, state, receivedAt, decidedAt, userName, faults }];
}

function serversOf(config: Config, companyCode: string): HostServers {
  const { sftp, ftp, http } = config;
  return {
    sftpPort: sftp.enabled ? sftp.port : undefined,
    ftpPort: ftp.enabled ? ftp.port : undefined,
    http: { scheme: http.tls === undefined ? "http" : "https", port: http.port, basePath: http.basePath },
    areNamesStrict: companySettingsOf(config, companyCode).names === "strict",
  };
}

/** Undefined for a company that is not in the scope. */
export async function queryHosts(
  context: QueryContext,
  scope: Scope,
  { companyId, userName }: HostAsked,
): Promise<HostFound | undefined> {
  const company = scope.companies.find(({ id }) => id === companyId);
  if (company === undefined) return undefined;
  const entries = await listRecentReceipts(context.read, { companyId, userName, limit: mostReceipts });
  return {
    receipts: entries.flatMap((entry) => receiptOf(context, entry)),
    servers: serversOf(context.config, company.code),
  };
}
