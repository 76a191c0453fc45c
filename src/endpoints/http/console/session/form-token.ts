/**
 * The token in each form that acts: only pages of the session have it, and it says nothing about the session's id.
 *
 * Each page has another one. Pages are compressed, and show texts that others choose: of a token that is always the same,
 * the length of pages would tell one letter after the other.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const saltBytes = 12;

function tokenOf(sessionId: string, salt: string): string {
  const seal = createHmac("sha256", sessionId).update(`form of the console ${salt}`).digest("base64url");
  return `${salt}.${seal}`;
}

/** A token of the session of that id; all that were ever made hold as long as the session. */
export function newFormToken(sessionId: string): string {
  return tokenOf(sessionId, randomBytes(saltBytes).toString("base64url"));
}

/** Whether the token is one of the session; takes the same time whatever is wrong with it. */
export function isFormToken(sessionId: string, token: string | null): boolean {
  const sent = token ?? "";
  const [salt = ""] = sent.split(".", 1);
  const [right, given] = [Buffer.from(tokenOf(sessionId, salt)), Buffer.from(sent)];
  return right.length === given.length && timingSafeEqual(right, given);
}
