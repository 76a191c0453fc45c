import type { Target } from "../../outbound/target.ts";
import { createUploadTarget } from "./upload-target.ts";

/** What all targets have that upload to a server. */
export interface UploadOptions {
  readonly host: string;
  readonly user: string;
  readonly password?: string;
  /** The target's folder there; default the one that the sign-in leads to. */
  readonly directory?: string;
  /** Whether missing folders of `directory` are made. Default false. */
  readonly makeFolders?: boolean;
  /** Of a whole attempt. Default 60,000. */
  readonly timeoutMs?: number;
  /** To be connected and signed in. Default 15,000, but never more than `timeoutMs`. */
  readonly connectMs?: number;
  /** How long the other side may say nothing. Default 20,000, but never more than `timeoutMs`. */
  readonly silenceMs?: number;
  /** How long a connection is kept for the next delivery. Default 10,000. */
  readonly keepMs?: number;
  /** How long the thread is kept for the next delivery. Default 30,000. */
  readonly idleMs?: number;
  /** How many at a time. Default 2. */
  readonly connections?: number;
}

export interface SftpTargetOptions extends UploadOptions {
  /** Default 22. */
  readonly port?: number;
  /** Text of a private key in the form of OpenSSH or PEM, instead of a password or besides. */
  readonly privateKey?: string;
  readonly passphrase?: string;
  /** SHA-256 fingerprints (`SHA256:…`) of the server's host keys; without one nothing is sent. */
  readonly hostKeys: readonly string[];
}

/** The settings of a target and its thread that do not depend on the protocol. */
export function sharedSettings(options: UploadOptions) {
  const { timeoutMs = 60_000, connectMs = 15_000, silenceMs = 20_000 } = options;
  const { keepMs = 10_000, idleMs = 30_000, connections = 2 } = options;
  return {
    target: {
      directory: options.directory,
      makeFolders: options.makeFolders ?? false,
      timeoutMs,
      connections,
      idleMs,
    },
    times: { connectMs: Math.min(connectMs, timeoutMs), silenceMs: Math.min(silenceMs, timeoutMs), keepMs },
  };
}

/**
 * Makes a target that uploads over SFTP (specification/outbound.md#targets): under a temporary name, then renamed; the
 * host key is one of `hostKeys`.
 */
export function createSftpTarget(options: SftpTargetOptions): Target {
  const { host, port = 22, user, password, privateKey, passphrase, hostKeys } = options;
  const { target, times } = sharedSettings(options);
  return createUploadTarget({
    ...target,
    server: { kind: "sftp", host, port, user, password, privateKey, passphrase, hostKeys, times },
  });
}
