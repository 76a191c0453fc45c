/** What all servers of this program have in common: where they listen, and their limits. */
import { addressRanges, host, integer, optional, text } from "../reader/setting.ts";

export const listenHost = host(
  "Address or host name to listen on; 0.0.0.0 or :: for all addresses of the machine.",
  { default: "127.0.0.1", needsRestart: true },
);

/** Port 0 is any free one. */
export function listenPort(standard: number, description: string) {
  return integer(description, { default: standard, range: [0, 65_535], needsRestart: true });
}

export function maxConnections(standard: number, description: string) {
  return integer(description, { default: standard, range: [1, 100_000] });
}

/** `of` names what the balancers pass on. */
export function balancers(of: string) {
  return addressRanges(
    `Balancers that pass on ${of}: each connection from these addresses has to begin with a header of the PROXY protocol (version 1 or 2), which names the client's address; one without is closed. From other addresses such a header is not taken. Name the balancers alone: who connects from here may say to be anybody.`,
    { default: [], example: ["10.0.0.4", "10.0.0.5"] },
  );
}

/** For each server the same: what one address may hold, and what those who have not signed in may hold together. */
export const connectionLimits = {
  maxConnectionsPerAddress: maxConnections(100, "Open connections from one address, signed in or not."),
  maxUnauthenticatedConnections: integer(
    "Open connections that are not signed in. When there are as many, a further one is taken in place of the oldest one of the address that holds most of them; addresses that signed in during the last day come last.",
    { default: 200, range: [1, 10_000] },
  ),
};

export const clientBanner = optional(text)("Text that clients show before the sign-in.", {
  maxLength: 2_000,
  pattern: "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]+$",
  form: "text without control characters",
  needsRestart: true,
  example: "Authorised use only.",
});

/** Sign-ins over SFTP and FTP, which take place once for each connection. */
export const signInLimits = {
  loginTimeoutMs: integer("How long a client may take from connecting to being signed in.", {
    default: 30_000,
    range: [1_000, 600_000],
  }),
  maxAuthAttempts: integer("Failed sign-ins on one connection before it is closed.", {
    default: 6,
    range: [1, 100],
  }),
};

export function idleTimeout(description: string) {
  return integer(description, { default: 900_000, range: [1_000, 86_400_000] });
}
