/** The token in each form that acts: only pages of the session have it, and it says nothing about the session's id. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** The token of the session of that id. */
export function formTokenOf(sessionId: string): string {
  return createHmac("sha256", sessionId).update("form of the console").digest("base64url");
}

/** Whether the token is the session's; takes the same time whatever is wrong with it. */
export function isFormToken(sessionId: string, token: string | null): boolean {
  const [right, sent] = [Buffer.from(formTokenOf(sessionId)), Buffer.from(token ?? "")];
  return right.length === sent.length && timingSafeEqual(right, sent);
}
