/** Settings of servers of others that deliveries and remotes share: where they are, who signs in, how they are recognised. */
import { Type } from "@sinclair/typebox";
import { choice, flag, integer, list, optional, path, secret, text } from "../reader/setting.ts";

/** Names of targets, exports and remotes. */
export const namePattern = "^[a-z0-9][a-z0-9-]{0,39}$";
export const nameForm = "1 to 40 characters of a-z, 0-9 and -, starting with a letter or digit";
/** The keys of maps that have such names. */
export const nameKeys = { keyName: "<NAME>", keyPattern: namePattern, keyForm: nameForm } as const;

export const scheduleZone = plain("Time zone (IANA) of the schedule.", 64, {
  default: "UTC",
  example: "Europe/Berlin",
});

/** How long one attempt may take when nothing is set. */
export const defaultTimeoutMs = 60_000;

export const attemptTimeout = integer(
  "How long an attempt may take in all; then it is ended and counts as failed.",
  { default: defaultTimeoutMs, range: [1_000, 3_600_000] },
);

/** How many deliveries or messages a target takes at the same time. */
export function connections(defaultCount: number, what: string) {
  return integer(`How many ${what} are sent to it at the same time.`, {
    default: defaultCount,
    range: [1, 64],
  });
}

/** The certificates that a server's own one is held to. */
export function authorities(file: string) {
  return optional(path)(
    "Certificates (PEM) of the authorities that the server's certificate may come from; without it, those that Node.js brings.",
    { example: `/etc/dropgate/tls/${file}` },
  );
}

/** One line of text. */
export function plain(
  description: string,
  maxLength: number,
  options: { form?: string; example?: string; default?: string; isAlternative?: true },
) {
  const pattern = "^[^\\u0000-\\u001f\\u007f]+$";
  return text(description, { maxLength, pattern, form: "text without control characters", ...options });
}

/** `account` is a part of the variable in the example. */
function password(account: string) {
  return secret("Password of the user.", { example: `env:DROPGATE_${account}_PASSWORD` });
}

export function optionalPassword(account: string) {
  return Type.Optional(password(account));
}

/** What a web service is signed in to with, besides the user. */
export function webSecrets(account: string) {
  return {
    password: optionalPassword(account),
    bearerToken: optional(secret)(
      "Token that is sent as `Authorization: Bearer`, instead of user and password.",
      { example: `env:DROPGATE_${account}_TOKEN`, isAlternative: true },
    ),
  };
}

export const allowPlainUrl = flag(
  "Take a url with http://: everything, the password too, can be read on the way.",
);

function port(defaultPort: number, remark = "") {
  return integer(`Port of the server.${remark}`, { default: defaultPort, range: [1, 65_535] });
}

/** Name or address of a server of others. */
export function serverHost(description: string, example: string) {
  const pattern = "^[A-Za-z0-9:][A-Za-z0-9.:_-]*$";
  const form = "the name or address of a server, without port";
  return text(description, { maxLength: 253, pattern, form, example });
}

const server = { host: serverHost("Name or address of the server.", "files.example.com") };
const account = { user: plain("User on the server.", 200, { example: "dropgate" }) };

export const partnerAuthorities = authorities("partner-ca.pem");
const sftpSignIn = {
  password: optionalPassword("SFTP"),
  privateKey: optional(secret)("Private key (OpenSSH or PEM) of the user, instead of a password.", {
    example: "file:/etc/dropgate/keys/partner",
    isAlternative: true,
  }),
  passphrase: optional(secret)("Passphrase of an encrypted private key.", {
    example: "env:DROPGATE_SFTP_PASSPHRASE",
    isAlternative: true,
  }),
};

/** An SFTP server. `withoutKeys` says what happens without host keys, and how to get to know them. */
export function sftpServer(withoutKeys: string) {
  const fingerprint = text("Fingerprint of a host key, as `ssh-keygen -lf` prints it.", {
    maxLength: 60,
    pattern: "^SHA256:[A-Za-z0-9+/]{43}=?$",
    form: "a fingerprint such as SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
  });
  return {
    ...server,
    port: port(22),
    ...account,
    ...sftpSignIn,
    hostKeys: optional(list)(`Fingerprints of the server's host keys. ${withoutKeys}`, fingerprint, {
      maxItems: 20,
      example: ["SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"],
    }),
  };
}

/** An FTP server without TLS. */
export const ftpServer = {
  ...server,
  port: port(21),
  ...account,
  password: password("FTP"),
  allowPlain: flag(
    "Has to be true: everything, the password too, can be read on the way. A server that knows TLS is of type ftps.",
    { example: true },
  ),
};

/** An FTP server with TLS. */
export const ftpsServer = {
  ...server,
  port: Type.Optional(port(21, " 990 with implicit TLS, when none is set.")),
  ...account,
  password: password("FTP"),
  tls: choice(
    "explicit: TLS is asked for with AUTH TLS; implicit: from the first byte.",
    ["explicit", "implicit"],
    { default: "explicit" },
  ),
  ca: partnerAuthorities,
  certificateFingerprint: optional(text)(
    "SHA-256 of the server's certificate, which is then the only one that is taken, whoever issued it.",
    {
      maxLength: 95,
      pattern: "^([0-9A-Fa-f]{64}|([0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2})$",
      form: "a SHA-256 fingerprint of 64 hexadecimal digits, with or without colons",
      example: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    },
  ),
};

/** A folder on the server. */
export const serverDirectory = plain(
  "Folder on the server, from the one that the user is in after signing in, or absolute; . is that one itself.",
  1_000,
  { default: "." },
);
