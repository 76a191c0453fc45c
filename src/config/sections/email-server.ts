/** The SMTP server that e-mails are handed to: for messages to customers, and for alerts. */
import { Type } from "@sinclair/typebox";
import { choice, flag, integer, optional, section, text } from "../reader/setting.ts";
import {
  attemptTimeout,
  authorities,
  connections,
  optionalPassword,
  plain,
  serverHost,
} from "./server-section.ts";

/** Text on one line. */
export function line(
  description: string,
  maxLength: number,
  options: { example?: string; default?: string },
) {
  const form = "text on one line, without control characters";
  return plain(description, maxLength, { form, ...options });
}

/** How many messages are sent at a time, and how long each may take. */
export const sending = { connections: connections(2, "messages"), timeoutMs: attemptTimeout };

/** An e-mail address. */
export const emailAddress = {
  maxLength: 254,
  pattern: "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+$",
  form: "an e-mail address such as orders@example.com, without a name",
};

export const emailServer = section("The SMTP server that e-mails are handed to.", {
  host: serverHost("Name or address of the SMTP server.", "smtp.example.com"),
  port: optional(integer)("Port of the server; 465 with implicit TLS, when none is set.", {
    default: 587,
    range: [1, 65_535],
  }),
  tls: choice(
    "starttls: the connection is encrypted with STARTTLS, or nothing is sent; implicit: from the first byte; none: never.",
    ["starttls", "implicit", "none"],
    { default: "starttls" },
  ),
  allowPlain: flag(
    "Take tls: none with a server on another machine: everything, the password too, can be read on the way.",
  ),
  ca: authorities("mail-ca.pem"),
  user: Type.Optional(line("User for signing in.", 200, { example: "dropgate" })),
  password: optionalPassword("SMTP"),
  from: text("Sender.", { ...emailAddress, example: "deliveries@example.com" }),
  fromName: optional(line)("Name of the sender, as its readers see it.", 100, { example: "ACME deliveries" }),
  replyTo: optional(text)("Where answers go.", { ...emailAddress, example: "service@example.com" }),
  ...sending,
});
