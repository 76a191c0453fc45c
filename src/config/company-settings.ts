/** What the configuration says of one company, by its code without regard to case, with defaults filled in. */
import { type AppointmentSettings, noAppointments } from "../domain/appointments/appointment-region.ts";
import { type MessageChannel, messageChannels } from "../domain/messages/message-event.ts";
import type { MessageSettings } from "../domain/messages/message-settings.ts";
import { type Age, type Ages, type RetentionKind, retentionKinds } from "../domain/retention/retention.ts";
import { isSameCompanyCode } from "../domain/users/company-code.ts";
import { defaultTargetName, outboundDefaults } from "./sections/outbound-section.ts";
import { defaultTimeoutMs } from "./sections/server-section.ts";
import type {
  CompanyAlertsConfig,
  Config,
  ExpectedArrivalsConfig,
  ExportConfig,
  InboundConfig,
  MessagesConfig,
  OutboundConfig,
  RemoteConfig,
  TargetConfig,
} from "./schema.ts";

export interface DropFolder {
  /** Absolute. */
  readonly path: string;
  readonly label?: string;
}

/** How the files of one company are taken in. */
export interface CompanySettings {
  readonly folders: readonly DropFolder[];
  readonly names: InboundConfig["names"];
  readonly lateFiles: InboundConfig["lateFiles"];
}

export type Companies = Pick<Config, "companies">;

function companyOf({ companies }: Companies, companyCode: string) {
  const code = Object.keys(companies).find((candidate) => isSameCompanyCode(candidate, companyCode));
  return code === undefined ? undefined : companies[code];
}

/** How the files of a company are taken in, with the defaults of the section `inbound`. */
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

/** What goes out for one company. */
export interface OutboundSettings extends Omit<OutboundConfig, "targets" | "exports" | "keepDays"> {
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

/** What goes out for a company. */
export function outboundSettingsOf(config: Companies, companyCode: string): OutboundSettings {
  const configured = companyOf(config, companyCode)?.outbound;
  const {
    targets,
    exports,
    keepDays: _,
    ...rest
  } = configured ?? {
    ...outboundDefaults,
    on: [],
    targets: {},
    exports: {},
    keepDays: undefined,
  };
  const ownTargets = new Map(Object.entries(targets));
  return {
    ...rest,
    targets: ownTargets.size === 0 ? defaultTargets : ownTargets,
    exports: new Map(Object.entries(exports)),
  };
}

/** Kinds that `outbound.keepDays` speaks of, which is older than the section `retention`. */
export const kindsOfKeepDays = ["outbound", "messages", "positions", "imports", "appointments"] as const;

/** How long everything of a company is kept. */
export function agesOf(config: Pick<Config, "companies" | "retention">, companyCode: string): Ages {
  const company = companyOf(config, companyCode);
  const keepDays = company?.outbound.keepDays;
  const ageOf = (kind: RetentionKind): Age => {
    const isOfKeepDays = kindsOfKeepDays.some((one) => one === kind);
    return company?.retention[kind] ?? (isOfKeepDays ? keepDays : undefined) ?? config.retention[kind];
  };
  return Object.fromEntries(retentionKinds.map((kind) => [kind, ageOf(kind)])) as Ages;
}

/** The name of the target that an export goes to, by what it names. */
export function targetNameOf(target: ExportConfig["target"]): string {
  return target ?? defaultTargetName;
}

/** The servers that files are fetched from for a company, by their names. */
export function remoteSettingsOf(config: Companies, code: string): ReadonlyMap<string, RemoteConfig> {
  return new Map(Object.entries(companyOf(config, code)?.remotes ?? {}));
}

/** The files that are expected of a company, by the names of the expectations. */
export function expectedArrivalsOf(
  config: Companies,
  code: string,
): ReadonlyMap<string, ExpectedArrivalsConfig> {
  return new Map(Object.entries(companyOf(config, code)?.expectedArrivals ?? {}));
}

/** The appointments of a company; none unless it has that section. */
export function appointmentSettingsOf(config: Companies, companyCode: string): AppointmentSettings {
  return companyOf(config, companyCode)?.appointments ?? noAppointments;
}

/** The section `alerts` of a company; undefined without any. */
export function companyAlertsOf(config: Companies, companyCode: string): CompanyAlertsConfig | undefined {
  return companyOf(config, companyCode)?.alerts;
}

/** The section `messages` of a company; undefined without any. */
export function messagesConfigOf(config: Companies, companyCode: string): MessagesConfig | undefined {
  return companyOf(config, companyCode)?.messages;
}

/** The channels that have a server. */
export function messageChannelsOf(messages: MessagesConfig): readonly MessageChannel[] {
  return messageChannels.filter((channel) => messages[channel] !== undefined);
}

/** Where a text message ends when no service is configured, which sends none. */
const anyLength = 459;

/** Templates, times and limits of a company's messages. */
export function messageSettingsOf(config: Companies, companyCode: string): MessageSettings | undefined {
  const messages = messagesConfigOf(config, companyCode);
  if (messages === undefined) return undefined;
  const { email: _, sms, ...settings } = messages;
  return { ...settings, smsMaxCharacters: sms?.maxCharacters ?? anyLength };
}
