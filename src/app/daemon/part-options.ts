/** From the configuration to the options of endpoints, pipeline and parser threads. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createLocations } from "../../inbound/places/locations.ts";
import { companySettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import type { DocumentPoolOptions } from "../../documents/pool/document-pool.ts";
import type { FtpOptions } from "../../endpoints/ftp/ftp-options.ts";
import type { HttpOptions } from "../../endpoints/http/server/http-options.ts";
import type { PipelineSettings } from "../../inbound/lanes/lane-runner.ts";
import { given } from "../../lib/given.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { TlsOptions } from "../../lib/tls-settings.ts";
import type { SignInOptions } from "../../sign-in/create-sign-in.ts";

async function readTls(tls: Config["http"]["tls"]): Promise<TlsOptions | undefined> {
  if (tls === undefined) return undefined;
  const [cert, key] = await Promise.all([readFile(tls.certFile, "utf8"), readFile(tls.keyFile, "utf8")]);
  const { minVersion, legacyCiphers } = tls;
  return { cert, key, minVersion, legacyCiphers, ...given({ passphrase: tls.keyPassphrase?.reveal() }) };
}

/** Options of the HTTP endpoint; reads the certificate, so that a reload takes a renewed one. */
export async function httpOptionsOf(config: Config): Promise<HttpOptions> {
  const { tls, ...rest } = config.http;
  return { ...rest, ...given({ tls: await readTls(tls) }) };
}

/** Options of the FTP endpoint; reads the certificate, so that a reload takes a renewed one. */
export async function ftpOptionsOf(config: Config): Promise<FtpOptions> {
  const { tls: files, ...rest } = config.ftp;
  return { ...rest, tls: config.ftp.enabled ? await readTls(files) : undefined };
}

/** Options of the sign-in. */
export function signInOptionsOf(config: Config): SignInOptions {
  const { bans, wrongPasswordDelayMs, passwordCacheMs } = config.security;
  return { ...bans, wrongPasswordDelayMs, passwordCacheMs };
}

/** Settings of the inbound pipeline; read again at each use. */
export function pipelineSettingsOf(config: Config): PipelineSettings {
  const { groupSize, settleMs, incompleteGraceMs, giveUpAfterMs, maxFileBytes } = config.inbound;
  return {
    ...{ groupSize, settleMs, incompleteGraceMs, giveUpAfterMs, maxFileBytes },
    storePauseMs: 1_000,
    rulesFor: (companyCode) => companySettingsOf(config, companyCode),
    furtherFoldersOf: (companyCode) => companySettingsOf(config, companyCode).folders.map(({ path }) => path),
  };
}

/** How many bytes must stay free on a disk of this size: the smaller of percentage and amount. */
export function minFreeBytesOf(config: Pick<Config, "storage">): (diskBytes: number) => number {
  const { percent, bytes } = config.storage.minFree;
  return (diskBytes) => Math.min((diskBytes * percent) / 100, bytes);
}

/** What the section `inbound` says about reading documents, so that a dry run is held to the limits of the daemon. */
export function documentPoolOptionsOf({ inbound }: Config, log: Logger): DocumentPoolOptions {
  return {
    log,
    threads: inbound.parserThreads,
    deadlineMs: inbound.parserTimeoutMs,
    maxHeapMb: inbound.parserMemoryMb,
    limits: {
      maxBytes: inbound.maxFileBytes,
      maxStops: inbound.maxStops,
      maxDetails: inbound.maxDetails,
      maxDepth: inbound.maxDepth,
      maxTextLength: inbound.maxTextBytes,
    },
  };
}

/** The folders of the file exchange: of the companies, and of the journal of uploads that earlier versions kept. */
export function exchangeFoldersOf(stateDir: string) {
  return {
    companiesDir: createLocations(stateDir).companiesDirectory,
    journalDir: join(stateDir, "journal"),
  };
}
