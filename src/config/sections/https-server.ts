/** A web server that files are posted to (docs/webhook.md): with deliveries, and with alerts. */
import { Type } from "@sinclair/typebox";
import { optional, path, secret, text } from "../reader/setting.ts";
import { allowPlainUrl, partnerAuthorities, plain, webSecrets } from "./server-section.ts";

/** Its settings; `account` is a part of the variables in the examples. */
export function httpsServer(description: string, example: string, account: string) {
  return {
    url: text(description, {
      maxLength: 2_000,
      pattern: "^https?://[^\\s/?#@\\\\]+([/?][^\\s#]*)?$",
      form: `an address such as ${example}, without user, password and #`,
      example,
    }),
    user: Type.Optional(plain("User for HTTP Basic.", 200, { example: "dropgate" })),
    ...webSecrets(account),
    signatureSecret: optional(secret)("Key of the signature in each request, which the receiver checks.", {
      example: `env:DROPGATE_${account}_SIGNATURE`,
    }),
    ca: partnerAuthorities,
    certificate: optional(path)(
      "Certificate (PEM) with which dropgate shows the server who it is; needs privateKey.",
      { example: "/etc/dropgate/tls/client.pem" },
    ),
    privateKey: optional(path)("Private key (PEM, without passphrase) of the certificate.", {
      example: "/etc/dropgate/tls/client-key.pem",
    }),
    allowPlain: allowPlainUrl,
  };
}
