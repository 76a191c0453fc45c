/** Settings of servers of others that deliveries and remotes share: where they are, who signs in, how they are recognised. */
import { Type } from "@sinclair/typebox";
import { choice, flag, integer, list, optional, path, secret, text } from "../reader/setting.ts";

/** Names of targets, exports and remotes. */
export const namePattern = "^[a-z0-9][a-z0-9-]{0,39}$";
export const nameForm = "1 to 40 characters of a-z, 0-9 and -, starting with a letter or digit";
/** The keys of maps that have such names. */
export const nameKeys = { keyName: "<NAME>", keyPattern: namePattern, keyForm: nameForm } as const;

export const scheduleZone = plain(64, {
  default: "UTC",
  example: "Europe/Berlin",
  description: "Time zone (IANA) of the schedule.",
});

/** How long one attempt may take when nothing is set. */
export const defaultTimeoutMs = 60_000;

export const attemptTimeout = integer({
  default: defaultTimeoutMs,
  range: [1_000, 3_600_000],
  description: "How long an attempt may take in all; then it is ended and counts as failed.",
});

/** How many deliveries or messages a target takes at the same time. */
export function connections(defaultCount: number, what: string) {
  return integer({
    default: defaultCount,
    range: [1, 64],
    description: `How many ${what} are sent to it at the same time.`,
  });
}

/** The certificates that a server's own one is held to. */
export function authorities(file: string) {
  return optional(path)({
    description:
      "Certificates (PEM) of the authorities that the server's certificate may come from; without it, those that Node.js brings.",
    example: `/etc/dropgate/tls/${file}`,
  });
}

/** One line of text. */
export function plain(
  maxLength: number,
  options: { description: string; example?: string; default?: string; isAlternative?: true },
) {
  return text({
    maxLength,
    pattern: "^[^\\u0000-\\u001f\\u007f]+$",
    form: "text without control characters",
    ...options,
  });
}

function port(defaultPort: number, remark = "") {
  return integer({
    default: defaultPort,
    range: [1, 65_535],
    description: `Port of the server.${remark}`,
  });
}

const server = {
  host: text({
    maxLength: 253,
    pattern: "^[A-Za-z0-9:][A-Za-z0-9.:_-]*$",
    form: "the name or address of a server, without port",
    example: "files.example.com",
    description: "Name or address of the server.",
  }),
};

const account = {
  user: plain(200, { description: "User on the server.", example: "dropgate" }),
};

export const tls = { ca: authorities("partner-ca.pem") };

const sftpSignIn = {
  password: optional(secret)({ description: "Password of the user.", example: "env:DROPGATE_SFTP_PASSWORD" }),
  privateKey: optional(secret)({
    description: "Private key (OpenSSH or PEM) of the user, instead of a password.",
    example: "file:/etc/dropgate/keys/partner",
    isAlternative: true,
  }),
  passphrase: optional(secret)({
    description: "Passphrase of an encrypted private key.",
    example: "env:DROPGATE_SFTP_PASSPHRASE",
    isAlternative: true,
  }),
};

/** An SFTP server. `withoutKeys` says what happens without host keys, and how to get to know them. */
export function sftpServer(withoutKeys: string) {
  const fingerprint = text({
    maxLength: 60,
    pattern: "^SHA256:[A-Za-z0-9+/]{43}=?$",
    form: "a fingerprint such as SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
    description: "Fingerprint of a host key, as `ssh-keygen -lf` prints it.",
  });
  return {
    ...server,
    port: port(22),
    ...account,
    ...sftpSignIn,
    hostKeys: optional(list)(fingerprint, {
      maxItems: 20,
      example: ["SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"],
      description: `Fingerprints of the server's host keys. ${withoutKeys}`,
    }),
  };
}

const requiredPassword = {
  password: secret({ description: "Password of the user.", example: "env:DROPGATE_FTP_PASSWORD" }),
};

/** An FTP server without TLS. */
export const ftpServer = {
  ...server,
  port: port(21),
  ...account,
  ...requiredPassword,
  allowPlain: flag({
    description:
      "Has to be true: everything, the password too, can be read on the way. A server that knows TLS is of type ftps.",
    example: true,
  }),
};

/** An FTP server with TLS. */
export const ftpsServer = {
  ...server,
  port: Type.Optional(port(21, " 990 with implicit TLS, when none is set.")),
  ...account,
  ...requiredPassword,
  tls: choice(["explicit", "implicit"], {
    default: "explicit",
    description: "explicit: TLS is asked for with AUTH TLS; implicit: from the first byte.",
  }),
  ...tls,
  certificateFingerprint: optional(text)({
    maxLength: 95,
    pattern: "^([0-9A-Fa-f]{64}|([0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2})$",
    form: "a SHA-256 fingerprint of 64 hexadecimal digits, with or without colons",
    example: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    description:
      "SHA-256 of the server's certificate, which is then the only one that is taken, whoever issued it.",
  }),
};

/** A folder on the server. */
export function serverDirectory() {
  return plain(1_000, {
    default: ".",
    description:
      "Folder on the server, from the one that the user is in after signing in, or absolute; . is that one itself.",
  });
}
