/** Targets on SFTP and FTP servers, as tests need them: most options have a default. */
import type { Target } from "../../src/outbound/target.ts";
import { plainFingerprint } from "../../src/remote/server-settings.ts";
import { UploadTarget } from "../../src/targets/servers/upload-target.ts";

/** What all targets have that upload to a server. */
interface UploadOptions {
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
  /** How long the server may be silent. Default 20,000, but never more than `timeoutMs`. */
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
function sharedSettings(options: UploadOptions) {
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
  return new UploadTarget({
    ...target,
    server: { kind: "sftp", host, port, user, password, privateKey, passphrase, hostKeys, times },
  });
}

export interface FtpTargetOptions extends UploadOptions {
  /**
   * `explicit` begins in the clear and goes on with TLS before anybody signs in; `implicit` begins with TLS; `plain` is
   * never encrypted, and only for networks that are trusted.
   */
  readonly security: "explicit" | "implicit" | "plain";
  /** Default 21, and 990 for `implicit`. */
  readonly port?: number;
  /** PEM of the authorities that are trusted, instead of the public ones that Node brings (not the system's). */
  readonly ca?: string;
  /**
   * SHA-256 fingerprint of the server's certificate in hexadecimal, with or without colons: it is trusted whoever has
   * signed it, and no other.
   */
  readonly certificateFingerprint?: string;
}

/**
 * Makes a target that uploads over FTP with TLS, or without when that is asked for (specification/outbound.md#targets):
 * passive, binary, under a temporary name, then renamed.
 */
export function createFtpTarget(options: FtpTargetOptions): Target {
  const { host, user, password, security, ca, certificateFingerprint } = options;
  const { target, times } = sharedSettings(options);
  return new UploadTarget({
    ...target,
    server: {
      kind: "ftp",
      host,
      port: options.port ?? (security === "implicit" ? 990 : 21),
      user,
      password,
      security,
      ca,
      certificateFingerprint:
        certificateFingerprint === undefined ? undefined : plainFingerprint(certificateFingerprint),
      times,
    },
  });
}
