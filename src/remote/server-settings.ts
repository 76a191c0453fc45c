/** How a server of others is reached, and who signs in to it. */

export interface Times {
  /** To be connected and signed in. */
  readonly connectMs: number;
  /** How long the other side may say nothing. */
  readonly silenceMs: number;
  /** How long a connection is kept without work. */
  readonly keepMs: number;
}

export interface SftpSettings {
  readonly kind: "sftp";
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly privateKey: string | undefined;
  readonly passphrase: string | undefined;
  /** `SHA256:…`, as `ssh-keygen -l` writes them. */
  readonly hostKeys: readonly string[];
  readonly times: Times;
}

export interface FtpSettings {
  readonly kind: "ftp";
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly security: "explicit" | "implicit" | "plain";
  readonly ca: string | undefined;
  /** SHA-256 of the certificate in upper-case hexadecimal, without colons. */
  readonly certificateFingerprint: string | undefined;
  readonly times: Times;
}

export type ServerSettings = SftpSettings | FtpSettings;

/** `FtpSettings.certificateFingerprint` of a fingerprint as people write it, with or without colons and `SHA256`. */
export function plainFingerprint(fingerprint: string): string {
  return fingerprint
    .replace(/^SHA256[:=]/i, "")
    .replaceAll(":", "")
    .toUpperCase();
}
