import { describe, expect, test } from "vitest";
import { sequenceOf } from "../../../test/support/random-numbers.ts";
import { maxHeaderBytes, readProxyHeader } from "./proxy-header.ts";
import { addition, binaryHeader, ipv4Addresses, localHeader, signature } from "./testing/headers.ts";

const behind = Buffer.from("SSH-2.0-client\r\n");

/** The reading of a header, which has to be the same with what comes behind, and of no part of it. */
function readingOf(header: Buffer) {
  const reading = readProxyHeader(header);
  expect(readProxyHeader(Buffer.concat([header, behind]))).toEqual(reading);
  return reading;
}

function sourceOf(header: Buffer): string | undefined {
  const reading = readingOf(header);
  if (reading.kind !== "read") throw new Error(JSON.stringify(reading));
  expect(reading.length).toBe(header.length);
  return reading.source;
}

function faultOf(header: Buffer): string {
  const reading = readProxyHeader(header);
  return reading.kind === "faulty" ? reading.fault : `not faulty but ${reading.kind}`;
}

function ipv6Header(source: string): Buffer {
  const addresses = Buffer.alloc(36);
  addresses.write(source, "hex");
  return binaryHeader({ family: 0x21, addresses });
}

describe("a line of version 1", () => {
  test.each([
    ["PROXY TCP4 198.51.100.7 10.0.0.4 4711 22\r\n", "198.51.100.7"],
    ["PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255"],
    ["PROXY TCP6 2001:DB8:0:0::7 2001:db8::1 0 22\r\n", "2001:db8::7"],
    ["PROXY TCP6 ::ffff:198.51.100.7 ::ffff:10.0.0.4 4711 22\r\n", "198.51.100.7"],
    ["PROXY UNKNOWN\r\n", undefined],
    ["PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff::ffff 65535 65535\r\n", undefined],
  ])("%j names %s", (line, source) => {
    expect(sourceOf(Buffer.from(line))).toBe(source);
  });

  test.each([
    "PROXY TCP4 198.51.100.7 10.0.0.4 4711\r\n",
    "PROXY TCP4 198.51.100.7 10.0.0.4 4711 22 23\r\n",
    "PROXY TCP4  198.51.100.7 10.0.0.4 4711 22\r\n",
    "PROXY TCP4 198.51.100.256 10.0.0.4 4711 22\r\n",
    "PROXY TCP4 198.51.100.7 here 4711 22\r\n",
    "PROXY TCP4 2001:db8::7 2001:db8::1 4711 22\r\n",
    "PROXY TCP6 198.51.100.7 10.0.0.4 4711 22\r\n",
    "PROXY TCP6 fe80::7%eth0 fe80::1 4711 22\r\n",
    "PROXY TCP4 198.51.100.7 10.0.0.4 65536 22\r\n",
    "PROXY TCP4 198.51.100.7 10.0.0.4 04711 22\r\n",
    "PROXY TCP4 198.51.100.7 10.0.0.4 -1 22\r\n",
    "PROXY TCP4 198.51.100.7 10.0.0.4 4711 22 \r\n",
    "PROXY UDP4 198.51.100.7 10.0.0.4 4711 22\r\n",
    "PROXY \r\n",
  ])("%j is none", (line) => {
    expect(faultOf(Buffer.from(line))).toContain("not of version 1");
  });

  test("has to end within 107 bytes", () => {
    const line = `PROXY UNKNOWN ${"x".repeat(107 - 16)}\r\n`;
    expect(sourceOf(Buffer.from(line))).toBeUndefined();
    expect(faultOf(Buffer.from(line.replace("x", "xx")))).toContain("no line end within 107 bytes");
    expect(faultOf(Buffer.from("PROXY TCP4 198.51.100.7\n".repeat(9)))).toContain("no line end");
  });
});

describe("a header of version 2", () => {
  test("names the source over IPv4, IPv6, and IPv4 mapped into it", () => {
    expect(sourceOf(binaryHeader())).toBe("198.51.100.7");
    expect(sourceOf(ipv6Header("20010db8000000000000000000000007"))).toBe("2001:db8::7");
    expect(sourceOf(ipv6Header("00000000000000000000ffffc6336407"))).toBe("198.51.100.7");
  });

  test.each([
    ["LOCAL", localHeader],
    ["LOCAL with addresses, which are to be ignored", binaryHeader({ command: 0x20 })],
    ["LOCAL of a family that is not known", binaryHeader({ command: 0x20, family: 0xf0 })],
    ["no family", binaryHeader({ family: 0, addresses: Buffer.alloc(0) })],
    ["a Unix socket", binaryHeader({ family: 0x31, addresses: Buffer.alloc(216, "/run/x") })],
    ["a datagram", binaryHeader({ family: 0x12 })],
  ])("is the balancer's own for %s", (_what, header) => {
    expect(sourceOf(header)).toBeUndefined();
  });

  test.each([
    ["another version", binaryHeader({ command: 0x11 }), "version"],
    ["another command", binaryHeader({ command: 0x22 }), "command"],
    ["another family", binaryHeader({ family: 0x41 }), "no addresses of a known kind"],
    ["another transport", binaryHeader({ family: 0x13 }), "no addresses of a known kind"],
    ["too few bytes for its family", binaryHeader({ length: 11 }), "no addresses of a known kind"],
    ["too many bytes", binaryHeader({ length: maxHeaderBytes }), "longer than 4096 bytes"],
  ])("is faulty with %s", (_what, header, fault) => {
    expect(faultOf(header)).toContain(fault);
  });

  test("may have additions up to its length, and no half ones", () => {
    const names = Buffer.concat([
      addition(0x02, Buffer.from("sftp.example")),
      addition(0x04, Buffer.alloc(3)),
    ]);
    expect(sourceOf(binaryHeader({ additions: names }))).toBe("198.51.100.7");
    const most = addition(0x04, Buffer.alloc(maxHeaderBytes - 16 - 12 - 3));
    expect(sourceOf(binaryHeader({ additions: most }))).toBe("198.51.100.7");
    for (const cut of [1, 2, 5])
      expect(faultOf(binaryHeader({ additions: names.subarray(0, cut) }))).toContain("within an addition");
  });

  test("with a checksum has to match it", () => {
    const of = (additions: Buffer) => binaryHeader({ additions });
    const blank = of(addition(0x03, Buffer.alloc(4)));
    const at = blank.length - 4;
    const right = Buffer.from(blank);
    right.writeUInt32BE(crc32cOf(blank), at);
    expect(sourceOf(right)).toBe("198.51.100.7");
    expect(faultOf(blank)).toContain("checksum that does not match");
    const changed = Buffer.from(right);
    changed.writeUInt8(8, 19);
    expect(faultOf(changed)).toContain("checksum that does not match");
    expect(faultOf(of(addition(0x03, Buffer.alloc(5))))).toContain("checksum of another length");
  });
});

/** Bit by bit, as RFC 3720 defines it. */
function crc32cOf(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0x82f63b78 : 0);
  }
  return ~sum >>> 0;
}

test("the checksum of the definition is that of its example", () => {
  expect(crc32cOf(Buffer.from("123456789"))).toBe(0xe3069283);
});

test("other bytes are no header from the first of them on that differs", () => {
  for (const text of ["S", "SSH-2.0-x\r\n", "GET / HTTP/1.1\r\n", "PROX ", "proxy ", "\r\n\r\n\0\r\nQUIX"])
    expect(faultOf(Buffer.from(text))).toContain("begins with other bytes");
  expect(faultOf(Buffer.from([22, 3, 1, 2, 0]))).toContain("begins with other bytes");
});

test("of a header that is cut short more has to come, wherever it is cut", () => {
  const headers = [
    Buffer.from("PROXY TCP6 2001:db8::7 2001:db8::1 4711 22\r\n"),
    binaryHeader({ additions: addition(0x04, Buffer.alloc(300)) }),
    ipv6Header("20010db8000000000000000000000007"),
    binaryHeader({ family: 0x31, addresses: Buffer.alloc(216) }),
    localHeader,
  ];
  for (const header of headers)
    for (let length = 0; length < header.length; length += 1)
      expect(readProxyHeader(header.subarray(0, length)), `${length}`).toEqual({ kind: "incomplete" });
});

test("of random bytes, and of headers with changed ones, each reading keeps within bounds", () => {
  const seed = Number(process.env["DROPGATE_FUZZ_SEED"] ?? 1);
  const draw = sequenceOf(seed);
  const kinds = { read: 0, incomplete: 0, faulty: 0 };
  const seeds = [
    binaryHeader({ additions: addition(0x02, Buffer.from("host")) }),
    ipv6Header("20010db8000000000000000000000007"),
    Buffer.from("PROXY TCP4 198.51.100.7 10.0.0.4 4711 22\r\n"),
    localHeader,
    signature,
    Buffer.concat([ipv4Addresses, signature]),
  ];
  for (let round = 0; round < 50_000; round += 1) {
    const base = seeds[draw(seeds.length)] ?? signature;
    const bytes = Buffer.concat([base, Buffer.alloc(draw(400))]);
    for (let at = draw(base.length + 1); at < bytes.length; at += 1 + draw(40)) bytes[at] = draw(256);
    const reading = readProxyHeader(bytes);
    kinds[reading.kind] += 1;
    if (reading.kind !== "read") continue;
    expect(reading.length, `seed ${seed}`).toBeLessThanOrEqual(bytes.length);
    // What a reading rests on is the header alone.
    expect(readProxyHeader(bytes.subarray(0, reading.length)), `seed ${seed}`).toEqual(reading);
  }
  for (const [kind, count] of Object.entries(kinds))
    expect(count, `${kind}, seed ${seed}`).toBeGreaterThan(100);
});
