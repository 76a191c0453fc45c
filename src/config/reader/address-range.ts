/** Addresses of the configuration: where servers listen, and what may connect. */
import { isIP, isIPv4 } from "node:net";

/**
 * Why a text is not an IPv4 or IPv6 address or CIDR range (`10.0.0.0/8`, `::1/128`, `192.0.2.7`); undefined when it is
 * one. Bits behind the prefix may be set: `127.0.0.1/8` means the whole of `127.0.0.0/8`.
 */
export function faultOfAddressRange(text: string): string | undefined {
  const [address = "", prefix, ...rest] = text.split("/");
  if (isIP(address) === 0 || address.includes("%") || rest.length > 0)
    return `must be an address or a CIDR range such as 10.0.0.0/8 or 2001:db8::/32, not \`${text}\``;
  if (prefix === undefined) return undefined;
  const maxPrefix = isIPv4(address) ? 32 : 128;
  if (/^(0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= maxPrefix) return undefined;
  return `the prefix must be a number from 0 to ${maxPrefix}, not \`${prefix}\``;
}

/** Whether a listening address can be reached from this machine alone. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** Whether a listening address stands for every address of the machine. */
export function isWildcardHost(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** As in `127.0.0.1:22` and `[::1]:22`. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The host by which programs on this machine reach a listener. */
export function localHostOf(host: string): string {
  return isWildcardHost(host) ? "127.0.0.1" : host;
}

interface HttpListener {
  readonly tls?: unknown;
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
}

/** The URL by which programs on this machine reach the web service. */
export function httpAddressOf({ tls, host, port, basePath }: HttpListener): string {
  return `${tls === undefined ? "http" : "https"}://${hostAndPort(localHostOf(host), port)}${basePath}`;
}

const hostName =
  /^(?=.{1,253}$)([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** Why a text cannot be listened on; undefined when it is an address or a host name. */
export function faultOfHost(text: string): string | undefined {
  if (isIP(text) !== 0) return undefined;
  if (text === "*") return "must be an address or a host name; 0.0.0.0 or :: stands for all addresses";
  // Only digits and dots is a mistyped address, not a name: 127.0.0.300 would end in a slow name look-up.
  if (!hostName.test(text) || /^[0-9.]+$/.test(text))
    return `must be an address such as 127.0.0.1 or :: or a host name, not \`${text}\``;
  return undefined;
}
