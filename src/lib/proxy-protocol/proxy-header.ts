/**
 * The header of the PROXY protocol, by which a balancer says whose connection it passes on: version 1, a line of text, and
 * version 2, binary (https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt).
 *
 * Read from the bytes so far, again when more have come: a header may come byte by byte, or together with what the client
 * says first. Nothing that comes is kept but the source address.
 */
import { isIPv4, isIPv6, SocketAddress } from "node:net";
import { normaliseAddress } from "../address-range.ts";

export type HeaderReading =
  /** It takes `length` bytes; `source` is undefined where the balancer speaks for itself or cannot name its client. */
  | { readonly kind: "read"; readonly length: number; readonly source: string | undefined }
  /** More has to come. */
  | { readonly kind: "incomplete" }
  /** `fault` completes "the PROXY header …". */
  | { readonly kind: "faulty"; readonly fault: string };

/** A header with all that balancers add (names, TLS versions, certificates' subjects) has some hundred bytes. */
export const maxHeaderBytes = 4_096;

const incomplete: HeaderReading = { kind: "incomplete" };

/** As sockets show it, so that texts can be compared. */
function asOfSockets(address: string): string {
  if (isIPv4(address)) return address;
  return normaliseAddress(new SocketAddress({ address, family: "ipv6" }).address);
}

function faulty(fault: string): HeaderReading {
  return { kind: "faulty", fault };
}

const textSignature = Buffer.from("PROXY ", "latin1");
/** With the line end: by the definition of version 1. */
const maxTextBytes = 107;
const canonicalPort = /^(0|[1-9][0-9]{0,4})$/;

function isPort(text: string | undefined): boolean {
  return text !== undefined && canonicalPort.test(text) && Number(text) <= 65_535;
}

function isOfFamily(family: string | undefined, address: string): boolean {
  if (family === "TCP4") return isIPv4(address);
  return family === "TCP6" && isIPv6(address) && !address.includes("%");
}

function readText(bytes: Buffer): HeaderReading {
  const end = bytes.subarray(0, maxTextBytes).indexOf("\r\n", 0, "latin1");
  if (end === -1) {
    if (bytes.length < maxTextBytes) return incomplete;
    return faulty(`has no line end within ${maxTextBytes} bytes`);
  }
  const length = end + 2;
  const [, family, source = "", destination = "", ...ports] = bytes.toString("latin1", 0, end).split(" ");
  // What follows is to be ignored.
  if (family === "UNKNOWN") return { kind: "read", length, source: undefined };
  const isSound =
    ports.length === 2 &&
    ports.every(isPort) &&
    [source, destination].every((each) => isOfFamily(family, each));
  return isSound
    ? { kind: "read", length, source: asOfSockets(source) }
    : faulty("is a line that is not of version 1");
}

const binarySignature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const prefixBytes = 16;
/** The high half of the byte behind the signature is the version, the low half the command. */
const commands = { local: 0x20, proxy: 0x21 } as const;
/** Bytes of the addresses and ports, by the family in the high half of the next byte. */
const addressBytes: ReadonlyMap<number, number> = new Map([
  [0, 0],
  [1, 12],
  [2, 36],
  [3, 216],
]);
const tcpOverIPv4 = 0x11;
const tcpOverIPv6 = 0x21;
const checksumType = 0x03;
const checksumBytes = 4;

/** The one step of CRC32c (RFC 3720) for a byte, for each byte. */
const checksumSteps = Uint32Array.from({ length: 256 }, (_, byte) => {
  let step = byte;
  for (let bit = 0; bit < 8; bit += 1) step = step & 1 ? (step >>> 1) ^ 0x82f63b78 : step >>> 1;
  return step;
});

/** CRC32c of the bytes, the four at `blank` counting as zeros. */
function checksumOf(bytes: Uint8Array, blank: number): number {
  let sum = 0xffffffff;
  for (const [at, byte] of bytes.entries()) {
    const counted = at >= blank && at < blank + checksumBytes ? 0 : byte;
    sum = (checksumSteps[(sum ^ counted) & 255] ?? 0) ^ (sum >>> 8);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/** What is wrong with the additions (type, length in two bytes, value) from `start` on; all but a checksum are passed over. */
function faultOfAdditions(header: Buffer, start: number): string | undefined {
  let at = start;
  while (at < header.length) {
    if (at + 3 > header.length) return "ends within an addition";
    const value = at + 3;
    const size = header.readUInt16BE(at + 1);
    if (value + size > header.length) return "ends within an addition";
    if (header[at] === checksumType) {
      if (size !== checksumBytes) return "has a checksum of another length than four bytes";
      if (header.readUInt32BE(value) !== checksumOf(header, value))
        return "has a checksum that does not match it";
    }
    at = value + size;
  }
  return undefined;
}

function sourceOf(header: Buffer, familyAndTransport: number): string | undefined {
  if (familyAndTransport === tcpOverIPv4) return header.subarray(prefixBytes, prefixBytes + 4).join(".");
  if (familyAndTransport !== tcpOverIPv6) return undefined;
  const groups = header.toString("hex", prefixBytes, prefixBytes + 16).match(/.{4}/g) ?? [];
  return asOfSockets(groups.join(":"));
}

function readBinary(bytes: Buffer): HeaderReading {
  if (bytes.length < prefixBytes) return incomplete;
  const command = bytes.readUInt8(12);
  const familyAndTransport = bytes.readUInt8(13);
  const length = prefixBytes + bytes.readUInt16BE(14);
  if (command !== commands.local && command !== commands.proxy)
    return faulty("is of a version or with a command that is not known");
  if (length > maxHeaderBytes) return faulty(`is longer than ${maxHeaderBytes} bytes`);
  if (bytes.length < length) return incomplete;
  // Whatever a balancer says of its own connection is to be ignored.
  if (command === commands.local) return { kind: "read", length, source: undefined };
  const additions = prefixBytes + (addressBytes.get(familyAndTransport >> 4) ?? Number.POSITIVE_INFINITY);
  if (additions > length || (familyAndTransport & 15) > 2) return faulty("has no addresses of a known kind");
  const header = bytes.subarray(0, length);
  const fault = faultOfAdditions(header, additions);
  return fault === undefined
    ? { kind: "read", length, source: sourceOf(header, familyAndTransport) }
    : faulty(fault);
}

/** Whether the bytes are, as far as they go, those of the signature. */
function beginsLike(bytes: Buffer, signature: Buffer): boolean {
  const length = Math.min(bytes.length, signature.length);
  return bytes.compare(signature, 0, length, 0, length) === 0;
}

/** Reads the header at the begin of a connection. Never throws. */
export function readProxyHeader(bytes: Buffer): HeaderReading {
  if (beginsLike(bytes, binarySignature)) return readBinary(bytes);
  if (!beginsLike(bytes, textSignature)) return faulty("is missing: the connection begins with other bytes");
  return bytes.length < textSignature.length ? incomplete : readText(bytes);
}
