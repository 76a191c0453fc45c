import { randomBytes, randomUUID } from "node:crypto";

/** An id for one request, shown to the client as `X-Request-Id` and written on every log line about it. */
export function newRequestId(): string {
  return randomBytes(9).toString("base64url");
}

/** A GUID (version 4) for stored documents and accounts. */
export function newGuid(): string {
  return randomUUID();
}
