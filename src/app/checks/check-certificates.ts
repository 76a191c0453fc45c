/** Certificates: those that dropgate shows to others, and those it holds others to. Files, owners and days of expiry. */
import { stat } from "node:fs/promises";
import type { WithAlerts } from "../../config/alert-settings.ts";
import type { Config } from "../../config/schema.ts";
import { systemClock } from "../../lib/clock.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { isoTime } from "../../lib/iso-time.ts";
import {
  expiriesIn,
  type PartnerCertificate,
  readPartnerCertificates,
} from "../daemon/partner-certificates.ts";
import { certificateDays, readTlsMaterial, tlsSettingsOf } from "../daemon/tls-material.ts";
import { type CheckFinding, fine, modeText, problem, warning } from "../watch/check-finding.ts";
import { dayMs } from "../../lib/durations.ts";
import { counted } from "../../lib/counted.ts";

const filesAtOnce = 8;

interface NamedCertificate {
  /** What it is for, and its file. */
  readonly title: string;
  readonly expiresAt: number;
  readonly whenExpired: (what: string) => CheckFinding;
  readonly renewal: string;
}

/** The line about a certificate: the nearer its last day, the more urgent. */
function expiryFinding({ title, expiresAt, whenExpired, renewal }: NamedCertificate): CheckFinding {
  const left = expiresAt - systemClock.now();
  if (left < 0) return whenExpired(`${title} expired ${isoTime(expiresAt)}`);
  const days = Math.floor(left / dayMs);
  const what = `${title} is valid until ${isoTime(expiresAt)}`;
  if (days >= certificateDays.soon) return fine(what);
  const short = `${what}: ${days < 1 ? "less than a day" : counted(days, "day")} left`;
  if (days < certificateDays.tomorrow) return warning(short, `${renewal} today`);
  return warning(short, days < certificateDays.thisWeek ? `${renewal} this week` : `${renewal} soon`);
}

async function checkServer(...[setting, tls]: Parameters<typeof readTlsMaterial>): Promise<CheckFinding> {
  const material = await readTlsMaterial(setting, tls);
  if (material.kind === "faulty") {
    const of = setting === "http.tls" ? "HTTPS" : "FTPS";
    return problem(`certificate and key of ${of} cannot be used: ${material.what}`, material.remedy);
  }
  const renewal = "renew it, then reload,";
  // Clients refuse a chain of which one certificate has expired.
  const expiresAt = Math.min(...expiriesIn(material.cert.toString("latin1")));
  return expiryFinding({
    title: `the certificate ${tls.certFile} (${setting}.certFile)`,
    expiresAt,
    whenExpired: (what) => problem(what, "renew it, then reload"),
    renewal,
  });
}

/** Whoever reads the key can impersonate the server. The group may read it: that is how services share a key. */
async function checkKeyMode(path: string): Promise<readonly CheckFinding[]> {
  // A key that cannot be examined cannot be read either, and is reported with its certificate.
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || (found.mode & 0o007) === 0) return [];
  const what = `the TLS key ${path} has mode ${modeText(found.mode)}: everybody on this machine can use it`;
  return [problem(what, `chmod o= ${path}`)];
}

/** Certificates and keys of the servers belong together, can be read, by nobody else, and are valid. */
export async function checkCertificates(config: Config): Promise<readonly CheckFinding[]> {
  const settings = tlsSettingsOf(config);
  const certificates = settings.map(([setting, tls]) => checkServer(setting, tls));
  const keys = [...new Set(settings.map(([, tls]) => tls.keyFile))].map(checkKeyMode);
  return [...(await Promise.all(certificates)), ...(await Promise.all(keys)).flat()];
}

function checkPartnerCertificate({ title, found }: PartnerCertificate): readonly CheckFinding[] {
  if ("error" in found) {
    // A file that cannot be read is reported with its target or remote.
    if (systemCodeOf(found.error) !== undefined) return [];
    return [warning(`${title} cannot be used: ${messageOf(found.error)}`, "give it the certificates as PEM")];
  }
  // All else works without this partner: no reason to keep the service down.
  const whenExpired = (what: string) =>
    warning(what, "get a new one, then reload; until then the server is not reached");
  const renewal = "get a new one, then reload,";
  return [expiryFinding({ title, expiresAt: found.expiresAt, whenExpired, renewal })];
}

/** The certificates that targets, alerts and remotes name: those of clients, and those of authorities. */
export async function checkPartnerCertificates(
  config: WithAlerts,
  companyCodes: readonly string[],
): Promise<readonly CheckFinding[]> {
  return (await readPartnerCertificates(config, companyCodes, filesAtOnce)).flatMap(checkPartnerCertificate);
}
