/** How a server of others is reached, and who signs in to it. */

interface Times {
  /** To be connected and signed in. */
  readonly connectMs: number;
  /** How long the server may be silent. */
  readonly silenceMs: number;
  /** How long a connection is kept without work. */
  readonly keepMs: number;
}

interface SharedSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly times: Times;
}

export interface SftpSettings extends SharedSettings {
  readonly kind: "sftp";
  readonly privateKey: string | undefined;
  readonly passphrase: string | undefined;
  /** `SHA256:…`, as `ssh-keygen -l` writes them; without one nothing is exchanged. */
  readonly hostKeys: readonly string[];
}

export interface FtpSettings extends SharedSettings {
  readonly kind: "ftp";
  /** `explicit`: TLS before anybody signs in; `implicit`: from the first byte; `plain`: never, in trusted networks alone. */
  readonly security: "explicit" | "implicit" | "plain";
  /** PEM of the authorities that are trusted, instead of the public ones that Node brings (not the system's). */
  readonly ca: string | undefined;
  /** SHA-256 of the certificate in upper-case hexadecimal, without colons. */
  readonly certificateFingerprint: string | undefined;
}

export type ServerSettings = SftpSettings | FtpSettings;

/** `FtpSettings.certificateFingerprint` of a fingerprint as people write it, with or without colons and `SHA256`. */
export function plainFingerprint(fingerprint: string): string {
  return fingerprint
    .replace(/^SHA256[:=]/i, "")
    .replaceAll(":", "")
    .toUpperCase();
}
