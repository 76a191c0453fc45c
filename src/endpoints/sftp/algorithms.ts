/**
 * The algorithms of the endpoint, and what a client that has none of them would need.
 *
 * GCM stands first: it is the fastest here. Plain SHA-2 MACs come last, for clients without the encrypt-then-MAC ones.
 */
import type { Algorithms, CipherAlgorithm, KexAlgorithm, MacAlgorithm } from "ssh2";
import type { ClientLog } from "../../exchange/connections/client-log.ts";
import { type ClientOffer, isForOneHostKeyType } from "./client-offer.ts";

const modernKex: KexAlgorithm[] = ["curve25519-sha256", "curve25519-sha256@libssh.org"];
const modernCiphers: CipherAlgorithm[] = [
  "aes128-gcm@openssh.com",
  "aes256-gcm@openssh.com",
  "aes128-ctr",
  "aes192-ctr",
  "aes256-ctr",
];
const modernMacs: MacAlgorithm[] = [
  "hmac-sha2-256-etm@openssh.com",
  "hmac-sha2-512-etm@openssh.com",
  "hmac-sha2-256",
  "hmac-sha2-512",
];
const modernHostKeys = ["ssh-ed25519"];

const legacyKex: KexAlgorithm[] = [
  "ecdh-sha2-nistp256",
  "ecdh-sha2-nistp384",
  "ecdh-sha2-nistp521",
  "diffie-hellman-group16-sha512",
  "diffie-hellman-group14-sha256",
  "diffie-hellman-group-exchange-sha256",
  "diffie-hellman-group14-sha1",
  "diffie-hellman-group-exchange-sha1",
  "diffie-hellman-group1-sha1",
];
const legacyCiphers: CipherAlgorithm[] = ["aes256-cbc", "aes192-cbc", "aes128-cbc", "3des-cbc"];
const legacyMacs: MacAlgorithm[] = ["hmac-sha1-etm@openssh.com", "hmac-sha1"];
const legacyHostKeys = ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"];

/** The lists for the SSH library. Host key algorithms follow from the keys themselves. */
export function algorithmsFor(isLegacyAllowed: boolean): Algorithms {
  return {
    kex: isLegacyAllowed ? [...modernKex, ...legacyKex] : modernKex,
    cipher: isLegacyAllowed ? [...modernCiphers, ...legacyCiphers] : modernCiphers,
    hmac: isLegacyAllowed ? [...modernMacs, ...legacyMacs] : modernMacs,
    compress: ["none"],
  };
}

interface Category {
  readonly offered: (offer: ClientOffer) => readonly (readonly string[])[];
  readonly modern: readonly string[];
  readonly legacy: readonly string[];
}

const categories: Readonly<Record<string, Category>> = {
  "key exchange": { offered: (offer) => [offer.kex], modern: modernKex, legacy: legacyKex },
  "host key": { offered: (offer) => [offer.hostKey], modern: modernHostKeys, legacy: legacyHostKeys },
  cipher: { offered: (offer) => offer.ciphers, modern: modernCiphers, legacy: legacyCiphers },
  MAC: { offered: (offer) => offer.macs, modern: modernMacs, legacy: legacyMacs },
  compression: { offered: (offer) => offer.compressions, modern: ["none"], legacy: [] },
};

export interface Mismatch {
  /** By kind of algorithm: what the client offered where it offered nothing of ours. */
  readonly offered: Readonly<Record<string, readonly string[]>>;
  /** Whether `sftp.legacyAlgorithms` would take this client. */
  readonly wouldLegacyDo: boolean;
}

function lacks(lists: readonly (readonly string[])[], known: readonly string[]): boolean {
  return lists.some((list) => !list.some((name) => known.includes(name)));
}

/** Why a client that offers this cannot be served with the modern lists; undefined when it can. */
export function mismatchOf(offer: ClientOffer): Mismatch | undefined {
  const offered: Record<string, readonly string[]> = {};
  let wouldLegacyDo = true;
  for (const [name, category] of Object.entries(categories)) {
    const lists = category.offered(offer);
    if (!lacks(lists, category.modern)) continue;
    offered[name] = [...new Set(lists.flat())];
    if (lacks(lists, [...category.modern, ...category.legacy])) wouldLegacyDo = false;
  }
  return Object.keys(offered).length === 0 ? undefined : { offered, wouldLegacyDo };
}

/** Reports that a client lacks a kind of algorithm that this server accepts, and the remedy. False when it lacks none. */
export function reportMismatch(log: ClientLog, offer: ClientOffer): boolean {
  const mismatch = mismatchOf(offer);
  if (mismatch === undefined) return false;
  const { identification } = offer;
  const { offered, wouldLegacyDo } = mismatch;
  const remedy = wouldLegacyDo
    ? "sftp.legacyAlgorithms: true would accept it"
    : "not even sftp.legacyAlgorithms would accept it";
  const lacksHostKeyAlone = Object.keys(offered).join() === "host key";
  if (lacksHostKeyAlone && isForOneHostKeyType(offer)) {
    // ssh-keyscan opens a connection for each type of key that there may be: most of them have to fail.
    const line = { identification, offered, ...(wouldLegacyDo ? { remedy } : {}) };
    log.report("info", line, "sftp client accepts a single type of host key, not in use here");
    return true;
  }
  const line = { identification, offered, remedy };
  log.report("warn", line, `sftp client offers no algorithm that this server accepts; ${remedy}`);
  return true;
}
