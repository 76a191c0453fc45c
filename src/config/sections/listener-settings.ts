/** What all servers of this program have in common: where they listen, and their limits. */
import { host, integer, optional, text } from "../reader/setting.ts";

export const listenHost = host({
  default: "127.0.0.1",
  needsRestart: true,
  description: "Address or host name to listen on; 0.0.0.0 or :: for all addresses of the machine.",
});

/** Port 0 is any free one. */
export function listenPort(standard: number, description: string) {
  return integer({ default: standard, range: [0, 65_535], needsRestart: true, description });
}

export function maxConnections(standard: number, description: string) {
  return integer({ default: standard, range: [1, 100_000], description });
}

/** For each server the same: what one address may hold, and what those who have not signed in may hold together. */
export const connectionLimits = {
  maxConnectionsPerAddress: maxConnections(100, "Open connections from one address, signed in or not."),
  maxUnauthenticatedConnections: integer({
    default: 200,
    range: [1, 10_000],
    description:
      "Open connections that are not signed in. When there are as many, a further one is taken in place of the oldest one of the address that holds most of them; addresses that signed in during the last day come last.",
  }),
};

export const clientBanner = optional(text)({
  maxLength: 2_000,
  pattern: "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]+$",
  form: "text without control characters",
  needsRestart: true,
  example: "Authorised use only.",
  description: "Text that clients show before the sign-in.",
});

/** Sign-ins over SFTP and FTP, which take place once for each connection. */
export const signInLimits = {
  loginTimeoutMs: integer({
    default: 30_000,
    range: [1_000, 600_000],
    description: "How long a client may take from connecting to being signed in.",
  }),
  maxAuthAttempts: integer({
    default: 6,
    range: [1, 100],
    description: "Failed sign-ins on one connection before it is closed.",
  }),
};

export function idleTimeout(description: string) {
  return integer({ default: 900_000, range: [1_000, 86_400_000], description });
}
