/** What the configuration says of alerts: of the operator, and of each company. */
import { hash } from "node:crypto";
import {
  type AlertKindName,
  type AlertKindSettings,
  alertKind,
  type AllAlertKindSettings,
} from "../domain/alerts/alert-kinds.ts";
import { alertWays, type AlertWay, operatorCode, webServiceAddress } from "../domain/alerts/audience.ts";
import type { QuietTime } from "../domain/alerts/quiet-times.ts";
import { given } from "../lib/given.ts";
import { type Companies, companyAlertsOf } from "./company-settings.ts";
import type { AlertsConfig, Config } from "./schema.ts";

/** A configuration; without the section `alerts` nobody is told of anything. */
export type WithAlerts = Companies & Partial<Pick<Config, "alerts">>;

type HttpsConfig = NonNullable<AlertsConfig["https"]>;

/** How the operator or a company is told. */
export interface AudienceSettings {
  readonly to: readonly string[];
  readonly https?: HttpsConfig;
  readonly quietHours: readonly QuietTime[];
  readonly zone: string;
}

/** Those of the operator, or of the company of that code; undefined for a company that is told nothing. */
export function audienceSettingsOf(config: WithAlerts, code: string): AudienceSettings | undefined {
  const { alerts } = config;
  if (alerts === undefined) return undefined;
  const own = code === operatorCode ? alerts : companyAlertsOf(config, code);
  if (own === undefined) return undefined;
  const { to, https, quietHours, zone = alerts.zone } = own;
  return { to, quietHours, zone, ...given({ https }) };
}

/** The ways on which somebody is told: an address alone is none without the server that mails are handed to. */
export function alertWaysOf(config: WithAlerts, code: string): readonly AlertWay[] {
  const settings = audienceSettingsOf(config, code);
  const has: Readonly<Record<AlertWay, boolean>> = {
    email: config.alerts?.email !== undefined && (settings?.to ?? []).length > 0,
    https: settings?.https !== undefined,
  };
  return alertWays.filter((way) => has[way]);
}

/** Everybody who is told: e-mail addresses, each once, and `webServiceAddress`. */
export function alertReceiversOf(config: WithAlerts, code: string): readonly string[] {
  const ways = alertWaysOf(config, code);
  const addresses = ways.includes("email") ? (audienceSettingsOf(config, code)?.to ?? []) : [];
  return [...new Set(addresses), ...(ways.includes("https") ? [webServiceAddress] : [])];
}

/**
 * Tells the URL of the web service that is told from another; null without one. Whoever reads the database learns no URL,
 * which may have a secret in it.
 */
export function webServiceHashOf(config: WithAlerts, code: string): string | null {
  const url = audienceSettingsOf(config, code)?.https?.url;
  return url === undefined ? null : hash("sha256", url, "hex").slice(0, 16);
}

/** Whether incidents of the company are told to anybody; of the installation with `operatorCode`. */
export function isAnybodyTold(config: WithAlerts, code: string): boolean {
  const isOperatorTold = alertWaysOf(config, operatorCode).length > 0;
  if (code === operatorCode) return isOperatorTold;
  return (isOperatorTold && (config.alerts?.ofCompanies ?? false)) || alertWaysOf(config, code).length > 0;
}

/** The settings of a kind in a company, or, with `operatorCode`, of the installation. */
export function alertKindSettingsOf<Name extends AlertKindName>(
  config: Companies & Pick<Config, "alerts">,
  code: string,
  name: Name,
): AlertKindSettings<Name> {
  const own = code === operatorCode ? undefined : companyAlertsOf(config, code)?.kinds;
  const all: AllAlertKindSettings = config.alerts.kinds;
  return { ...all[name], ...own?.[name] };
}

/** Whether incidents of the kind are looked for in a company, or, with `operatorCode`, in the installation. */
export function isKindWatched(
  config: Companies & Pick<Config, "alerts">,
  code: string,
  name: AlertKindName,
): boolean {
  const { scope } = alertKind(name);
  const isThere = scope === "both" || (scope === "operator") === (code === operatorCode);
  return isThere && isAnybodyTold(config, code) && alertKindSettingsOf(config, code, name).enabled;
}
