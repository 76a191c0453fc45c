/**
 * The cookie that holds the id of a session.
 *
 * The browser keeps the one with `__Host-` from being set or seen by anything but this very host over TLS. A browser that
 * is not on TLS would not keep it: there, on this machine or where the operator allows passwords in clear, it has another
 * name and is not `Secure`. A connection that is encrypted takes the first alone.
 */
import type { IncomingHttpHeaders } from "node:http";
import { sessionMaxMs } from "../../../../sign-in/console-sessions.ts";

const secureName = "__Host-dropgate";
const plainName = "dropgate-plain";
const idForm = /^[A-Za-z0-9_-]{43}$/;

function cookieOf(header: string, name: string): string | undefined {
  for (const part of header.split(";")) {
    const equals = part.indexOf("=");
    if (equals !== -1 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return undefined;
}

/** The id of a session as the browser sends it; undefined without one of the right form. */
export function sessionIdIn(
  { cookie }: IncomingHttpHeaders,
  { isEncrypted }: { readonly isEncrypted: boolean },
): string | undefined {
  if (cookie === undefined) return undefined;
  const id = cookieOf(cookie, secureName) ?? (isEncrypted ? undefined : cookieOf(cookie, plainName));
  return id !== undefined && idForm.test(id) ? id : undefined;
}

/** Whether the browser is on TLS: the connection is, or, through a proxy, the browser says so of the page it shows. */
export function isBrowserOnTls(
  { origin }: IncomingHttpHeaders,
  { isEncrypted }: { readonly isEncrypted: boolean },
): boolean {
  return isEncrypted || origin === undefined || !origin.startsWith("http://");
}

const flags = "Path=/; HttpOnly; SameSite=Strict";

/** Of `Set-Cookie`: holds the session until the browser closes, and no longer than the session may last. */
export function cookieFor(id: string, isSecure: boolean): string {
  const age = `Max-Age=${Math.floor(sessionMaxMs / 1_000)}`;
  return isSecure ? `${secureName}=${id}; ${flags}; ${age}; Secure` : `${plainName}=${id}; ${flags}; ${age}`;
}

/** Of `Set-Cookie`: removes it. */
export function cookieRemoval(isSecure: boolean): string {
  return isSecure ? `${secureName}=; ${flags}; Max-Age=0; Secure` : `${plainName}=; ${flags}; Max-Age=0`;
}
