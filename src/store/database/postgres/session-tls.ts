/** TLS between a session and PostgreSQL: what the address asks for, and why it does not come to be. */
import { messageOf, systemCodeOf } from "../../../lib/errors.ts";
import { untrustedCodes } from "../../../lib/untrusted-codes.ts";

const weakModes = /([?&]sslmode=)(?!(?:disable|no-verify)(?:[&#]|$))[^&#]*/g;

/**
 * The address as the driver has to read it: who asks for TLS has the server's certificate verified, unless in so many words
 * (`no-verify`). The driver says that a later version of it will verify less for `require` and the like.
 */
export function verifying(url: string): string {
  return url.replaceAll(weakModes, "$1verify-full");
}

type Remedy = (address: string) => string;

const untrusted: Remedy = (address) =>
  `name the file with the certificate of the authority that signed the server's, by sslrootcert in ${address}`;
const clientCertificate: Remedy = (address) =>
  `name a certificate that the server trusts, and its key, by sslcert and sslkey in ${address}`;
const noTls: Remedy = (address) =>
  `set ssl = on in the server's postgresql.conf, with a certificate, or correct the host in ${address}`;
const unreadable: Remedy = (address) =>
  `put the file there, readable for dropgate's user, or correct its path in ${address}`;
const unusable: Remedy = (address) =>
  `see that sslrootcert, sslcert and sslkey in ${address} name certificates and the key in PEM, without a passphrase`;

const remedies: Readonly<Record<string, Remedy>> = {
  ...Object.fromEntries(untrustedCodes.map((code) => [code, untrusted])),
  ERR_TLS_CERT_ALTNAME_INVALID: (address) =>
    `write the host in ${address} as the server's certificate has it, or give the server one for this host`,
  CERT_HAS_EXPIRED: () => "give the server a new certificate",
  CERT_NOT_YET_VALID: () => "set the clocks of both machines",
};

/** Alerts by which a server says that it does not know us. They come as codes of OpenSSL with changing beginnings. */
const clientAlert = /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_)/;

/** The driver has no code for it. */
const noTlsOffered = "The server does not support SSL connections";

function remedyOf(error: unknown): Remedy | undefined {
  if (error instanceof Error && error.message === noTlsOffered) return noTls;
  // Of the files that the address names; sockets have other calls.
  if (error instanceof Error && "syscall" in error && (error.syscall === "open" || error.syscall === "read"))
    return systemCodeOf(error) === "ECONNRESET" ? undefined : unreadable;
  const code = systemCodeOf(error) ?? "";
  if (clientAlert.test(code)) return clientCertificate;
  return code.startsWith("ERR_OSSL_") ? unusable : remedies[code];
}

/** What is wrong and what to do, where TLS is why no session came to be. It does not pass by itself. */
export function tlsFault(error: unknown, address: string): string | undefined {
  const remedy = remedyOf(error)?.(address);
  return remedy === undefined ? undefined : `no TLS with PostgreSQL (${messageOf(error)}): ${remedy}`;
}
