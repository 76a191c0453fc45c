/** Certificate and key of HTTPS and FTPS, read and tested; messages name the setting and the file at fault. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { Config } from "../../config/schema.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";

type TlsConfig = NonNullable<Config["http"]["tls"]>;

/** The settings under which there may be a certificate. */
export type TlsSetting = "http.tls" | "ftp.tls";

export interface TlsFault {
  readonly kind: "faulty";
  /** Setting, file and fault. */
  readonly what: string;
  readonly remedy: string;
}

export type TlsMaterial = { readonly kind: "usable"; readonly cert: Buffer } | TlsFault;

function faulty(what: string, remedy: string): TlsFault {
  return { kind: "faulty", what, remedy };
}

async function readNamed(setting: string, file: string): Promise<Buffer | TlsFault> {
  try {
    return await readFile(file);
  } catch (error) {
    const what = `${setting} ${file} cannot be read (${systemCodeOf(error) ?? messageOf(error)})`;
    return faulty(what, "correct the path, or let the user of the daemon read the file");
  }
}

/** What the TLS library objects to, undefined when it accepts them. */
function objection(options: SecureContextOptions): string | undefined {
  try {
    createSecureContext(options);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Reads certificate and key and says what is wrong with them, if anything. */
export async function readTlsMaterial(setting: TlsSetting, tls: TlsConfig): Promise<TlsMaterial> {
  const { certFile, keyFile } = tls;
  const cert = await readNamed(`${setting}.certFile`, certFile);
  if ("kind" in cert) return cert;
  const key = await readNamed(`${setting}.keyFile`, keyFile);
  if ("kind" in key) return key;
  const passphrase = tls.keyPassphrase?.reveal();
  const withPassphrase = passphrase === undefined ? { key } : { key, passphrase };
  const ofCert = objection({ cert });
  if (ofCert !== undefined) {
    const what = `${setting}.certFile ${certFile} holds no certificate that can be used (${ofCert})`;
    return faulty(what, "give it the certificate and its chain as PEM");
  }
  const ofKey = objection(withPassphrase);
  if (ofKey !== undefined) {
    const what = `${setting}.keyFile ${keyFile} holds no private key that can be used (${ofKey})`;
    return faulty(what, `give it the private key as PEM, and ${setting}.keyPassphrase when it is encrypted`);
  }
  const ofBoth = objection({ cert, ...withPassphrase });
  if (ofBoth === undefined) return { kind: "usable", cert };
  const what = `${setting}: the key ${keyFile} and the certificate ${certFile} cannot be used together (${ofBoth})`;
  return faulty(what, "give it the key that the certificate was made for");
}

/** When a certificate, the first of its chain, expires; milliseconds UTC. */
export function certificateExpiry(cert: string | Buffer): number {
  return Date.parse(new X509Certificate(cert).validTo);
}

/** So many days before a certificate expires it is worth a word, a louder one each time. */
export const certificateDays = { soon: 30, thisWeek: 7, tomorrow: 1 } as const;

/** The certificates that are set and used. */
export function tlsSettingsOf({
  http,
  ftp,
}: Pick<Config, "http" | "ftp">): readonly (readonly [TlsSetting, TlsConfig])[] {
  return [
    ...(http.tls === undefined ? [] : [["http.tls", http.tls] as const]),
    ...(ftp.tls === undefined || !ftp.enabled ? [] : [["ftp.tls", ftp.tls] as const]),
  ];
}

/** What is wrong with the certificates and keys of a configuration, in one sentence; undefined when nothing is. */
export async function tlsFaultOf(config: Pick<Config, "http" | "ftp">): Promise<string | undefined> {
  for (const [setting, tls] of tlsSettingsOf(config)) {
    const material = await readTlsMaterial(setting, tls);
    if (material.kind === "faulty") return `${material.what}: ${material.remedy}`;
  }
  return undefined;
}
