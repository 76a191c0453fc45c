/** Whether a form was sent by a page of this server (what browsers say of it cannot be changed by other sites). */
import type { IncomingHttpHeaders } from "node:http";

function hostIn(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin)?.[1]?.toLowerCase();
}

/**
 * By `Sec-Fetch-Site`, which browsers send over TLS and to their own machine; else `Origin` has to name the host that was
 * asked. Neither is no browser of these years, and counts as foreign.
 */
export function isFromOwnPage(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  return origin !== undefined && host !== undefined && hostIn(origin) === host.toLowerCase();
}
