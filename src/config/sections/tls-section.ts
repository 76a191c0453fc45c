import { choice, flag, optional, path, secret, section } from "../reader/setting.ts";

/** Certificate and key of a server, in the same form for each. */
export function tlsSection(description: string) {
  return section(
    description,
    {
      certFile: path("The server's certificate with its chain, PEM.", {
        example: "/etc/dropgate/tls/cert.pem",
      }),
      keyFile: path("The private key of the certificate, PEM.", { example: "/etc/dropgate/tls/key.pem" }),
      keyPassphrase: optional(secret)("The passphrase of an encrypted private key.", {
        example: "env:DROPGATE_TLS_PASSPHRASE",
      }),
      minVersion: choice("The oldest version of TLS that is taken.", ["TLSv1.2", "TLSv1.3"], {
        default: "TLSv1.2",
      }),
      legacyCiphers: flag(
        "Under TLS 1.2 also offer suites with CBC and without forward secrecy, last of all, for clients that know no others. Without it only ECDHE with AES-GCM or ChaCha20-Poly1305 is offered.",
      ),
    },
    { needsRestart: true },
  );
}
