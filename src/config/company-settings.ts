import { isSameCompanyCode } from "../domain/company-code.ts";
import type { Config, InboundConfig } from "./schema.ts";

export interface DropFolder {
  /** Absolute. */
  readonly path: string;
  readonly label?: string;
}

/** What the configuration says about one company, with what it leaves to the section `inbound` filled in. */
export interface CompanySettings {
  readonly folders: readonly DropFolder[];
  readonly names: InboundConfig["names"];
  readonly lateFiles: InboundConfig["lateFiles"];
}

/** Settings of a company by its code, without regard to case; the defaults when it is not in the configuration. */
export function companySettingsOf(
  config: Pick<Config, "companies" | "inbound">,
  companyCode: string,
): CompanySettings {
  const code = Object.keys(config.companies).find((candidate) => isSameCompanyCode(candidate, companyCode));
  const company = code === undefined ? undefined : config.companies[code];
  return {
    folders: company?.folders ?? [],
    names: company?.inbound.names ?? config.inbound.names,
    lateFiles: company?.inbound.lateFiles ?? config.inbound.lateFiles,
  };
}
