/** The TLS settings of our servers: certificate, versions, and the cipher suites in their order. */
import { constants } from "node:crypto";
import type { SecureContextOptions } from "node:tls";

/**
 * Under TLS 1.2: forward secrecy and authenticated encryption, nothing else. Those of TLS 1.3, which all are like that, are
 * chosen apart and stay as OpenSSL has them.
 */
const modern = ["ECDHE-ECDSA", "ECDHE-RSA"].flatMap((keyExchange) => [
  `${keyExchange}-AES128-GCM-SHA256`,
  `${keyExchange}-AES256-GCM-SHA384`,
  `${keyExchange}-CHACHA20-POLY1305`,
]);
const modernOfTls13 = ["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"];

/** For clients that support nothing newer: CBC with SHA-1, and no forward secrecy. */
const legacy = ["ECDHE-ECDSA", "ECDHE-RSA"]
  .flatMap((keyExchange) => [
    `${keyExchange}-AES128-SHA256`,
    `${keyExchange}-AES256-SHA384`,
    `${keyExchange}-AES128-SHA`,
    `${keyExchange}-AES256-SHA`,
  ])
  .concat([
    "AES128-GCM-SHA256",
    "AES256-GCM-SHA384",
    "AES128-SHA256",
    "AES256-SHA256",
    "AES128-SHA",
    "AES256-SHA",
  ]);

/** Contents, not paths: the composition root reads the files, at the start and at every reload. */
export interface TlsOptions {
  /** Certificate with its chain, PEM. */
  readonly cert: string;
  /** Private key, PEM. */
  readonly key: string;
  readonly passphrase?: string;
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  /** Also suites without forward secrecy, and with CBC; not when left out. */
  readonly legacyCiphers?: boolean;
}

/** The settings of a server. The server's order of suites counts, so that legacy suites come last. */
export function tlsSettings({
  cert,
  key,
  passphrase,
  minVersion,
  legacyCiphers = false,
}: TlsOptions): SecureContextOptions {
  const ciphers = [...modernOfTls13, ...modern, ...(legacyCiphers ? legacy : [])].join(":");
  const secureOptions = constants.SSL_OP_CIPHER_SERVER_PREFERENCE | constants.SSL_OP_NO_RENEGOTIATION;
  const suites = { ciphers, honorCipherOrder: true, secureOptions };
  return { cert, key, minVersion, ...suites, ...(passphrase === undefined ? {} : { passphrase }) };
}
