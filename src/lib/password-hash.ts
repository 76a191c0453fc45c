/**
 * Passwords as they are stored: `scrypt$15$8$1$salt$hash`, that is log2 N, r, p, and salt and hash in base64.
 *
 * One hash takes some 60 ms and 32 MB in a thread of libuv's pool of four: callers bound how many run at once.
 */
import { randomBytes, randomInt, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

interface ScryptCost {
  readonly log2N: number;
  readonly r: number;
  readonly p: number;
}

interface StoredPassword extends ScryptCost {
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

const cost: ScryptCost = { log2N: 15, r: 8, p: 1 };
const saltBytes = 16;
const hashBytes = 32;
/** The most that a stored hash may cost: a damaged row must not take gigabytes. */
const greatestCost: ScryptCost = { log2N: 18, r: 16, p: 4 };

/** Stands in for the hash of nobody, so that an unknown user costs the same as a known one. */
const nobody: StoredPassword = { ...cost, salt: randomBytes(saltBytes), hash: new Uint8Array(hashBytes) };

function derive(password: string, how: ScryptCost & { salt: Uint8Array; length: number }): Promise<Buffer> {
  const N = 2 ** how.log2N;
  // Node refuses the cost by default: it allows 32 MB, and scrypt takes a little more than 128 * N * r.
  const options: ScryptOptions = { N, r: how.r, p: how.p, maxmem: 256 * N * how.r };
  return new Promise((resolve, reject) => {
    // Composed, because the same password typed on another system may come decomposed.
    scrypt(password.normalize("NFC"), how.salt, how.length, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

function parseStored(stored: string): StoredPassword | undefined {
  const parts = /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$/.exec(
    stored,
  );
  if (parts === null) return undefined;
  const [log2N = 0, r = 0, p = 0] = parts.slice(1, 4).map(Number);
  const isBearable = log2N <= greatestCost.log2N && r <= greatestCost.r && p <= greatestCost.p;
  const salt = Buffer.from(parts[4] ?? "", "base64");
  const hash = Buffer.from(parts[5] ?? "", "base64");
  if (!isBearable || log2N < 1 || r < 1 || p < 1 || salt.length < 8 || hash.length < 16) return undefined;
  return { log2N, r, p, salt, hash };
}

/** Hashes a password under a fresh salt. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, { ...cost, salt, length: hashBytes });
  return ["scrypt", cost.log2N, cost.r, cost.p, salt.toString("base64"), hash.toString("base64")].join("$");
}

/**
 * Whether the password is the one that was hashed. Takes as long, and answers false, for `null` (nobody, or a user
 * without a password), for a damaged hash, and for a password with a NUL: scrypt fills up with NULs, so that one with some
 * at its end would have the hash of the one without.
 */
export async function isPasswordOf(password: string, stored: string | null): Promise<boolean> {
  const parsed = stored === null ? undefined : parseStored(stored);
  const { hash, ...how } = parsed ?? nobody;
  const found = await derive(password, { ...how, length: hash.length });
  return timingSafeEqual(found, hash) && parsed !== undefined && !password.includes("\0");
}

/** No letters or digits that are taken for one another. */
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";

/** A password of 98 random bits in four groups, to be copied or read out. */
export function newPassword(): string {
  const group = () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join("");
  return Array.from({ length: 4 }, group).join("-");
}
