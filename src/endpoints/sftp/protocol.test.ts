import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { mismatchOf } from "./algorithms.ts";
import { isForOneHostKeyType, OfferWatch } from "./client-offer.ts";
import { longNameOf } from "../../exchange/connections/long-name.ts";
import { BrokenStream, PacketReader } from "./packet-reader.ts";
import { readRequest } from "./request.ts";
import { packetOf } from "./testing/raw-client.ts";
import { packetType } from "./wire.ts";

describe("PacketReader", () => {
  const packets = [1, 2, 3, 4, 5, 100, 70_000, 6, 262_144].map((size) => randomBytes(size));
  const stream = Buffer.concat(
    packets.flatMap((packet) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(packet.length);
      return [length, packet];
    }),
  );

  test.each([1, 2, 3, 5, 7, 64, 32_768, 1_000_000])(
    "gives the same packets from chunks of %i bytes",
    (size) => {
      const reader = new PacketReader();
      const got: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size) {
        reader.push(stream.subarray(at, at + size), (packet) => got.push(Buffer.from(packet)));
      }
      expect(Buffer.concat(got).equals(Buffer.concat(packets))).toBe(true);
      expect(got.map((packet) => packet.length)).toEqual(packets.map((packet) => packet.length));
    },
  );

  test.each([0, 262_145, 0x80000000, 0xffffffff])("a length of %i breaks the stream", (length) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(length);
    expect(() => new PacketReader().push(bytes, () => undefined)).toThrow(BrokenStream);
  });
});

describe("readRequest", () => {
  const body = (...args: Parameters<typeof packetOf>): Buffer => packetOf(...args).subarray(4);

  test("reads OPEN, WRITE and RENAME", () => {
    expect(readRequest(body(packetType.open, 7, "/ä.xml", 26, 0))).toEqual({
      kind: "open",
      id: 7,
      path: "/ä.xml",
      flags: 26,
    });
    const write = readRequest(body(packetType.write, 8, "h", 5_000_000_000n, Buffer.from("abc")));
    expect(write).toMatchObject({ kind: "write", id: 8, handle: "h", offset: 5_000_000_000 });
    const rename = readRequest(body(packetType.extended, 9, "posix-rename@openssh.com", "/a", "/b"));
    expect(rename).toEqual({ kind: "rename", id: 9, from: "/a", to: "/b", mayReplace: true });
  });

  test("reads attributes past the owner", () => {
    const packet = body(packetType.setstat, 1, "/a", 0xf, 10n, 1, 2, 0o100640, 111, 222);
    expect(readRequest(packet)).toMatchObject({
      change: { size: 10, mode: 0o640, accessedSeconds: 111, modifiedSeconds: 222 },
    });
  });

  test("every prefix of every packet is refused or read, and nothing else is thrown", () => {
    const wholes = [
      body(packetType.open, 1, "/a", 1, 0xf, 10n, 1, 2, 3, 4, 5),
      body(packetType.write, 1, "h", 0n, "data"),
      body(packetType.rename, 1, "/a", "/b"),
      body(packetType.extended, 1, "statvfs@openssh.com", "/"),
    ];
    for (const whole of wholes) {
      for (let length = 5; length < whole.length; length += 1) {
        expect(() => readRequest(whole.subarray(0, length))).not.toThrow();
      }
    }
    for (let round = 0; round < 20_000; round += 1) {
      const noise = randomBytes(5 + (round % 60));
      noise[0] = round % 256;
      readRequest(noise);
    }
  });
});

describe("longNameOf", () => {
  const now = Date.UTC(2026, 10, 21, 12, 0) / 1000;
  const attributes = {
    isDirectory: false,
    size: 4096,
    mode: 0o640,
    modifiedSeconds: now - 60,
    accessedSeconds: 0,
  };

  test("shows the time of a recent file and the year of an old one", () => {
    expect(longNameOf({ name: "a.xml", attributes }, now)).toBe(
      "-rw-r-----    1 dropgate dropgate     4096 Nov 21 11:59 a.xml",
    );
    const old = {
      ...attributes,
      isDirectory: true,
      mode: 0o755,
      modifiedSeconds: Date.UTC(2024, 0, 2) / 1000,
    };
    expect(longNameOf({ name: "d", attributes: old }, now)).toBe(
      "drwxr-xr-x    1 dropgate dropgate     4096 Jan  2  2024 d",
    );
  });
});

describe("what a client offers", () => {
  function helloOf(...lists: string[]): Buffer {
    const names = packetOf(20, ...lists.map((list) => Buffer.from(list))).subarray(5);
    const payload = Buffer.concat([Buffer.from([20]), randomBytes(16), names, Buffer.alloc(5)]);
    const padding = Buffer.alloc(4);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(1 + payload.length + padding.length);
    head.writeUInt8(padding.length, 4);
    return Buffer.concat([Buffer.from("SSH-2.0-OldClient_1.0\r\n"), head, payload, padding]);
  }
  const old = [
    "diffie-hellman-group1-sha1",
    "ssh-rsa",
    "3des-cbc",
    "3des-cbc",
    "hmac-sha1",
    "hmac-sha1",
    "none",
    "none",
    "",
    "",
  ];

  test("is read from its first bytes, however they are cut", () => {
    const watch = new OfferWatch();
    for (const byte of helloOf(...old)) watch.push(Buffer.from([byte]));
    expect(watch.offer).toMatchObject({
      identification: "SSH-2.0-OldClient_1.0",
      kex: ["diffie-hellman-group1-sha1"],
    });
  });

  test("is explained: what is missing, and whether the setting would help", () => {
    const watch = new OfferWatch();
    watch.push(helloOf(...old));
    expect(watch.offer && mismatchOf(watch.offer)).toEqual({
      offered: {
        "key exchange": ["diffie-hellman-group1-sha1"],
        "host key": ["ssh-rsa"],
        cipher: ["3des-cbc"],
        MAC: ["hmac-sha1"],
      },
      wouldLegacyDo: true,
    });
    const hopeless = new OfferWatch();
    hopeless.push(helloOf(...old.with(2, "arcfour").with(3, "arcfour")));
    expect(hopeless.offer && mismatchOf(hopeless.offer)?.wouldLegacyDo).toBe(false);
  });

  test.each([
    ["ssh-ed25519", true],
    ["rsa-sha2-512,rsa-sha2-256,ssh-rsa", true],
    ["ecdsa-sha2-nistp256,ecdsa-sha2-nistp384", true],
    ["ssh-rsa,ecdsa-sha2-nistp256", false],
    ["", false],
  ])("with the host keys %j is for one type alone: %s", (hostKeys, isForOne) => {
    const watch = new OfferWatch();
    watch.push(helloOf(...old.with(1, hostKeys)));
    expect(watch.offer && isForOneHostKeyType(watch.offer)).toBe(isForOne);
  });

  test("noise is no offer", () => {
    const watch = new OfferWatch();
    for (let round = 0; round < 200; round += 1) watch.push(randomBytes(500));
    expect(watch.offer).toBeUndefined();
  });
});
