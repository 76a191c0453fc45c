/** The certificates that targets, remotes and alerts name: those of clients, and those of the authorities they trust. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { WithAlerts } from "../../config/alert-settings.ts";
import { remoteSettingsOf } from "../../config/company-settings.ts";
import { operatorCode } from "../../domain/alerts/audience.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { minuteMs, secondMs } from "../../lib/durations.ts";
import { allTargetsOf } from "./outbound-targets.ts";

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** When each certificate of a PEM file expires, milliseconds UTC. Throws when one of them is none. */
export function expiriesIn(pem: string): readonly number[] {
  const expiries = (pem.match(pemBlock) ?? []).map((one) => Date.parse(new X509Certificate(one).validTo));
  if (expiries.length === 0) throw new Error("no certificate in PEM is in it");
  return expiries;
}

type PartnerSetting = "certificate" | "ca";
type PartnerSettings = { readonly type: string } & {
  readonly [Setting in PartnerSetting]?: string | undefined;
};

interface PartnerFile {
  readonly file: string;
  readonly setting: PartnerSetting;
  /** The target or remote that names it. */
  readonly owner: string;
}

export interface PartnerCertificate extends PartnerFile {
  /** What it is, with its file and its owner. */
  readonly title: string;
  /** When it expires, milliseconds UTC; or why that is unknown. */
  readonly found: { readonly expiresAt: number } | { readonly error: unknown };
}

function partnerFilesOf(config: WithAlerts, code: string): readonly PartnerFile[] {
  const owners: readonly (readonly [string, PartnerSettings])[] = [
    ...[...allTargetsOf(config, code)].map(([name, one]) => [`the target ${name} of ${code}`, one] as const),
    ...[...remoteSettingsOf(config, code)].map(
      ([name, one]) => [`the remote ${name} of ${code}`, one] as const,
    ),
  ];
  return owners.flatMap(([owner, settings]) =>
    (["certificate", "ca"] as const).flatMap((setting) => {
      const file = settings[setting];
      return file === undefined ? [] : [{ file, setting, owner }];
    }),
  );
}

async function readPartnerFile(one: PartnerFile): Promise<PartnerCertificate> {
  const { file, setting, owner } = one;
  const isOurs = setting === "certificate";
  const title = `${isOurs ? "the client certificate" : "the authority"} ${file} of ${owner}`;
  try {
    const expiries = expiriesIn(await readFile(file, "latin1"));
    // Of a chain each certificate counts; of the authorities that are trusted one is enough.
    const expiresAt = isOurs ? Math.min(...expiries) : Math.max(...expiries);
    return { ...one, title, found: { expiresAt } };
  } catch (error) {
    return { ...one, title, found: { error } };
  }
}

/** All of them, of the operator and of these companies; so many files are read at the same time. */
export async function readPartnerCertificates(
  config: WithAlerts,
  companyCodes: readonly string[],
  filesAtOnce: number,
): Promise<readonly PartnerCertificate[]> {
  const files = [operatorCode, ...companyCodes].flatMap((code) => partnerFilesOf(config, code));
  return await mapConcurrently(files, filesAtOnce, readPartnerFile);
}

export interface PartnerCertificatesDeps {
  readonly config: () => WithAlerts;
  readonly companyCodes: () => Promise<readonly string[]>;
  /** How old an answer may be. Default 10 minutes. */
  readonly maxAgeMs?: number;
  /** How long files are waited for: one on a dead share holds up no other work. Default 10 s. */
  readonly waitMs?: number;
}

async function tooLate(waitMs: number): Promise<never> {
  await sleep(waitMs, undefined, { ref: false });
  throw new Error("the files of certificates of targets and remotes do not answer");
}

/**
 * What tells them to alerts. They are read one by one and anew after a reload, after a change of companies and every few
 * minutes. Rejects when a file does not answer.
 */
export function createPartnerCertificates({
  config,
  companyCodes,
  maxAgeMs = 10 * minuteMs,
  waitMs = 10 * secondMs,
}: PartnerCertificatesDeps): () => Promise<readonly PartnerCertificate[]> {
  let known: { of: readonly unknown[]; atMs: number; all: readonly PartnerCertificate[] } | undefined;
  let reading: Promise<void> | undefined;
  async function read(of: readonly [WithAlerts, readonly string[]]): Promise<void> {
    const all = await readPartnerCertificates(...of, 1);
    known = { of, atMs: performance.now(), all };
  }
  return async () => {
    const of = [config(), await companyCodes()] as const;
    const isKnown = () =>
      known !== undefined && known.of[0] === of[0] && isDeepStrictEqual(known.of[1], of[1]);
    if (known !== undefined && isKnown() && performance.now() - known.atMs < maxAgeMs) return known.all;
    reading ??= read(of).finally(() => {
      reading = undefined;
    });
    await Promise.race([reading, tooLate(waitMs)]);
    // A reading that was under way may be of an earlier configuration: the next look has those of this one.
    if (known === undefined || !isKnown())
      throw new Error("the certificates of targets and remotes are being read");
    return known.all;
  };
}
