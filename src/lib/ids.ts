import { randomFillSync, randomUUID } from "node:crypto";

const requestIdBytes = 9;
/** Random bytes are fetched for many ids at a time: one by one they would cost as much as the rest of a small answer. */
const pool = Buffer.alloc(requestIdBytes * 512);
let taken = pool.length;

/**
 * An id for one request, shown to the client as `X-Request-Id` and written on every log line about it. It is random: a count
 * would tell each company what the others do.
 */
export function newRequestId(): string {
  if (taken === pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  taken += requestIdBytes;
  return pool.toString("base64url", taken - requestIdBytes, taken);
}

/** Sixteen bytes in the form of a GUID. */
export function guidForm(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** A GUID (version 4) for stored documents and accounts. */
export function newGuid(): string {
  return randomUUID();
}
