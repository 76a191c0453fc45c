import type { Target } from "../../outbound/target.ts";
import { plainFingerprint } from "../../remote/server-settings.ts";
import { sharedSettings, type UploadOptions } from "./sftp-target.ts";
import { createUploadTarget } from "./upload-target.ts";

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
  return createUploadTarget({
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
