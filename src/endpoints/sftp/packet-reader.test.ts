import { expect, test } from "vitest";
import { PacketReader } from "./packet-reader.ts";

function framed(length: number, filling: number): Buffer {
  const bytes = Buffer.alloc(4 + length, filling);
  bytes.writeUInt32BE(length, 0);
  return bytes;
}

/** Sends a packet in two chunks, so that it has to be gathered. */
function gathered(reader: PacketReader, length: number, filling: number): Buffer {
  const packets: Buffer[] = [];
  const bytes = framed(length, filling);
  reader.push(bytes.subarray(0, 100), (packet) => packets.push(packet));
  reader.push(bytes.subarray(100), (packet) => packets.push(packet));
  const [packet] = packets;
  if (packet === undefined) throw new Error("no packet");
  return packet;
}

test("the memory of a packet that was given back is used for the next one, of its own length", () => {
  const reader = new PacketReader();
  const first = gathered(reader, 33_000, 1);
  reader.giveBack(first.subarray(20));
  const second = gathered(reader, 32_000, 2);
  expect(second.buffer).toBe(first.buffer);
  expect(second).toEqual(Buffer.alloc(32_000, 2));
});

test("a packet that was not given back is never written over", () => {
  const reader = new PacketReader();
  const first = gathered(reader, 200_000, 1);
  gathered(reader, 200_000, 2);
  expect(first).toEqual(Buffer.alloc(200_000, 1));
});

test("what is given back twice, or was never lent, is not lent to two packets", () => {
  const reader = new PacketReader();
  const first = gathered(reader, 40_000, 1);
  reader.giveBack(first);
  reader.giveBack(first);
  reader.giveBack(Buffer.alloc(40_000));
  const second = gathered(reader, 40_000, 2);
  const third = gathered(reader, 40_000, 3);
  expect(second).toEqual(Buffer.alloc(40_000, 2));
  expect(third).toEqual(Buffer.alloc(40_000, 3));
});

test("memory that was dropped is not used again", () => {
  const reader = new PacketReader();
  const first = gathered(reader, 40_000, 1);
  reader.giveBack(first);
  reader.dropSpare();
  expect(gathered(reader, 40_000, 2).buffer).not.toBe(first.buffer);
});
