/** The client's address: the peer's, or, behind a trusted proxy, the one that the proxy names. */
import type { IncomingHttpHeaders } from "node:http";
import { isIP, isIPv4 } from "node:net";
import { type AddressSet, normaliseAddress } from "../../../lib/address-range.ts";

export function isLoopback(address: string): boolean {
  return address === "::1" || (address.startsWith("127.") && isIPv4(address));
}

const forwardingHeaders = [
  "forwarded",
  "via",
  "x-client-ip",
  "x-forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-forwarded-server",
  "x-real-ip",
] as const;

/** Whether the headers say that the request came through a proxy. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return forwardingHeaders.some((name) => headers[name] !== undefined);
}

/** `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:4711`; undefined for what is no address. */
function addressIn(text: string): string | undefined {
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/.exec(text) ?? [];
  const address = normaliseAddress(bracketed ?? dotted ?? text);
  return isIP(address) === 0 ? undefined : address;
}

/** Splits at the separator, but not within quotes. */
function splitUnquoted(text: string, separator: "," | ";"): string[] {
  const outside = separator === "," ? /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g : /(?:[^;"]|"(?:[^"\\]|\\.)*"?)+/g;
  return text.match(outside) ?? [];
}

/** The `for` of each element of `Forwarded` (RFC 7239), nearest proxy last; empty where an element has none. */
function forwardedNodes(header: string): string[] {
  return splitUnquoted(header, ",").map((element) => {
    const pairs = splitUnquoted(element, ";").map((pair) => pair.trim());
    const node = pairs.find((pair) => /^for=/i.test(pair))?.slice(4) ?? "";
    return node.startsWith('"') ? node.slice(1, -1).replace(/\\(.)/g, "$1") : node;
  });
}

/** Node joins repeated headers of these names with commas. */
function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(",") : header;
}

/** The addresses on the request's way, the nearest last; undefined when no proxy names any. */
function wayOf(headers: IncomingHttpHeaders): readonly string[] | undefined {
  const forwardedFor = textOf(headers["x-forwarded-for"]);
  if (forwardedFor !== undefined) return forwardedFor.split(",").map((part) => part.trim());
  const forwarded = textOf(headers["forwarded"]);
  return forwarded === undefined ? undefined : forwardedNodes(forwarded);
}

/**
 * The client's address. Reads `X-Forwarded-For`, or else `Forwarded`, from its end, because only entries that trusted
 * proxies appended are true: the first address that is not a trusted proxy is the client. From other peers the headers
 * count for nothing.
 */
export function clientAddress(peer: string, headers: IncomingHttpHeaders, trusted: AddressSet): string {
  const way = trusted.has(peer) ? wayOf(headers) : undefined;
  let client = peer;
  for (const part of way?.toReversed() ?? []) {
    const address = addressIn(part);
    if (address === undefined) return client;
    client = address;
    if (!trusted.has(address)) return client;
  }
  return client;
}
