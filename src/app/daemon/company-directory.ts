/** Codes of companies by their ids, and the folders that are watched for them. */
import { join } from "node:path";
import { companySettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import type { WatchedFolder } from "../../endpoints/folders/folder-deps.ts";
import type { Locations } from "../../inbound/places/locations.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import type { Reader } from "../../store/database/database.ts";

export interface CompanyDirectory {
  /** The code as it was registered. Rejects when there is no such company. */
  codeOf(companyId: number): Promise<string>;
  /** The company's own folder and those of the configuration, as both are at this moment. */
  watchedFolders(): Promise<readonly WatchedFolder[]>;
}

/** Reads companies from the store; a code never changes, so it is cached. */
export function createCompanyDirectory(deps: {
  readonly read: Reader;
  readonly locations: Locations;
  readonly config: () => Config;
}): CompanyDirectory {
  const codes = new Map<number, string>();
  const refresh = async () => {
    const companies = await listCompanies(deps.read);
    for (const { id, code } of companies) codes.set(id, code);
    return companies;
  };
  return {
    async codeOf(companyId) {
      if (!codes.has(companyId)) await refresh();
      const code = codes.get(companyId);
      if (code === undefined) throw new Error(`there is no company with id ${companyId}`);
      return code;
    },
    async watchedFolders() {
      const companies = await refresh();
      return companies.flatMap(({ id, code }) => {
        const inboundDirectory = deps.locations.inboundDirectory(code);
        const base = { companyId: id, companyCode: code, inboundDirectory };
        const own = { ...base, path: join(inboundDirectory), isInbox: true };
        const further = companySettingsOf(deps.config(), code).folders;
        return [own, ...further.map(({ path }) => ({ ...base, path, isInbox: false }))];
      });
    },
  };
}
