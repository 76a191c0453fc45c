import { isSameCompanyCode } from "../domain/users/company-code.ts";
import { defaultTargetName, defaultTimeoutMs, outboundDefaults } from "./sections/outbound-section.ts";
import type {
  Config,
  ExportConfig,
  InboundConfig,
  OutboundConfig,
  RemoteConfig,
  TargetConfig,
} from "./schema.ts";

export interface DropFolder {
  /** Absolute. */
  readonly path: string;
  readonly label?: string;
}

/** What the configuration says about one company, with the defaults of the section `inbound` filled in. */
export interface CompanySettings {
  readonly folders: readonly DropFolder[];
  readonly names: InboundConfig["names"];
  readonly lateFiles: InboundConfig["lateFiles"];
}

function companyOf(
  { companies }: Pick<Config, "companies">,
  companyCode: string,
): Config["companies"][string] | undefined {
  const code = Object.keys(companies).find((candidate) => isSameCompanyCode(candidate, companyCode));
  return code === undefined ? undefined : companies[code];
}

/** Settings of a company by its code, without regard to case; the defaults when it is not in the configuration. */
export function companySettingsOf(
  config: Pick<Config, "companies" | "inbound">,
  companyCode: string,
): CompanySettings {
  const company = companyOf(config, companyCode);
  return {
    folders: company?.folders ?? [],
    names: company?.inbound.names ?? config.inbound.names,
    lateFiles: company?.inbound.lateFiles ?? config.inbound.lateFiles,
  };
}

/** What goes out for one company, with defaults filled in. */
export interface OutboundSettings extends Omit<OutboundConfig, "targets" | "exports"> {
  /** At least one. */
  readonly targets: ReadonlyMap<string, TargetConfig>;
  readonly exports: ReadonlyMap<string, ExportConfig>;
}

const defaultTargets: ReadonlyMap<string, TargetConfig> = new Map([
  [
    defaultTargetName,
    { type: "folder", completions: "atOnce", timeoutMs: defaultTimeoutMs, mustBeMount: false },
  ],
]);

/** What goes out for a company by its code, without regard to case; the defaults when it is not in the configuration. */
export function outboundSettingsOf(config: Pick<Config, "companies">, companyCode: string): OutboundSettings {
  const configured = companyOf(config, companyCode)?.outbound;
  const { targets, exports, ...rest } = configured ?? {
    ...outboundDefaults,
    on: [],
    targets: {},
    exports: {},
  };
  const ownTargets = new Map(Object.entries(targets));
  return {
    ...rest,
    targets: ownTargets.size === 0 ? defaultTargets : ownTargets,
    exports: new Map(Object.entries(exports)),
  };
}

/** The name of the target that an export goes to, by what it names. */
export function targetNameOf(target: ExportConfig["target"]): string {
  return target ?? defaultTargetName;
}

/** The servers that files are fetched from for a company by its code, without regard to case, by their names. */
export function remoteSettingsOf(
  config: Pick<Config, "companies">,
  companyCode: string,
): ReadonlyMap<string, RemoteConfig> {
  return new Map(Object.entries(companyOf(config, companyCode)?.remotes ?? {}));
}
