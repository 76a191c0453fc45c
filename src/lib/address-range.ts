/** Internet addresses as limits and allow lists see them. */
import { BlockList, isIPv4, isIPv6 } from "node:net";

/** The eight groups of a valid IPv6 address without a zone. */
function groupsOf(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  if (dotted !== null) {
    const [a = 0, b = 0, c = 0, d = 0] = dotted.slice(2).map(Number);
    return groupsOf(`${dotted[1]}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`);
  }
  const [head = "", tail] = address.split("::");
  const read = (part: string) =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const first = read(head);
  if (tail === undefined) return first;
  const last = read(tail);
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
}

function mappedIPv4(groups: readonly number[]): string | undefined {
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return undefined;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** How a socket that listens on both families shows every IPv4 peer: common enough for a short cut. */
const usualMapped = /^::ffff:(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;

function withoutZone(address: string): string {
  const zone = address.indexOf("%");
  return zone === -1 ? address : address.slice(0, zone);
}

/** An IPv4 address that came mapped into IPv6 becomes itself again; a zone is dropped; all else stays. */
export function normaliseAddress(address: string): string {
  const shortCut = address.includes(":") ? usualMapped.exec(address)?.[1] : address;
  if (shortCut !== undefined) return shortCut;
  const bare = withoutZone(address);
  return isIPv6(bare) ? (mappedIPv4(groupsOf(bare)) ?? bare) : address;
}

/**
 * What one peer is counted by: the IPv4 address, or the /64 of an IPv6 address, because whoever has one address of it
 * has all of them. Texts that are no address are counted as they are.
 */
export function peerKeyOf(address: string): string {
  return networkOf(address, 64) ?? normaliseAddress(address);
}

/** The network of an IPv6 address with so many bits (a multiple of 16); undefined for all others. */
export function networkOf(address: string, bits: number): string | undefined {
  if (!address.includes(":")) return undefined;
  const plain = normaliseAddress(address);
  if (!plain.includes(":") || !isIPv6(plain)) return undefined;
  const network = groupsOf(plain).slice(0, bits / 16);
  return `${network.map((group) => group.toString(16)).join(":")}::/${bits}`;
}

export interface AddressSet {
  has(address: string): boolean;
}

function addRange(list: BlockList, range: string): void {
  const [network = "", prefix] = range.split("/");
  const family = isIPv4(network) ? "ipv4" : "ipv6";
  const bits = prefix === undefined ? (family === "ipv4" ? 32 : 128) : Number(prefix);
  // A range of mapped addresses means the IPv4 addresses, because that is how they are looked up.
  const mapped = family === "ipv6" ? normaliseAddress(network) : network;
  if (isIPv4(mapped) && family === "ipv6" && bits >= 96) list.addSubnet(mapped, bits - 96, "ipv4");
  else list.addSubnet(network, bits, family);
}

/**
 * A set of addresses and CIDR ranges, IPv4 and IPv6 (`192.0.2.7`, `10.0.0.0/8`, `2001:db8::/32`). Mapped addresses are
 * looked up as IPv4. Throws on a text that is neither; the configuration has checked them.
 */
export function createAddressSet(ranges: readonly string[]): AddressSet {
  const list = new BlockList();
  for (const range of ranges) addRange(list, range);
  return {
    has(address) {
      if (ranges.length === 0) return false;
      const plain = normaliseAddress(address);
      if (isIPv4(plain)) return list.check(plain, "ipv4");
      return isIPv6(plain) && list.check(plain, "ipv6");
    },
  };
}
