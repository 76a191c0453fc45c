/** Who is asking: the peer's address, or, behind a trusted proxy, the address the proxy names. */
import { isIP, isIPv4 } from "node:net";
import { type AddressSet, normaliseAddress } from "../../lib/address-range.ts";

/** Whether the address is of this machine alone. */
export function isLoopback(address: string): boolean {
  return address === "::1" || (address.startsWith("127.") && isIPv4(address));
}

/**
 * The client's address. `X-Forwarded-For` is read from its end, because only what trusted proxies appended is true: the
 * first address that is not a trusted proxy is the client. From anybody else the header is ignored.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, trusted: AddressSet): string {
  if (forwardedFor === undefined || !trusted.has(peer)) return peer;
  let client = peer;
  for (const part of forwardedFor.split(",").reverse()) {
    const address = normaliseAddress(part.trim());
    if (isIP(address) === 0) return client;
    client = address;
    if (!trusted.has(address)) return client;
  }
  return client;
}
