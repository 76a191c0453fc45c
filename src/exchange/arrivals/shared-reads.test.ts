import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { withSharedReads } from "./shared-reads.ts";

let server: Server;
let taken: Socket[];
let mayShare: boolean;

beforeEach(async () => {
  taken = [];
  mayShare = true;
  server = createServer({ pauseOnConnect: true }, (socket) => {
    taken.push(withSharedReads(socket, { mayShare: () => mayShare }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  for (const socket of taken) socket.destroy();
  server.close();
});

async function connected(): Promise<{ client: Socket; accepted: Socket }> {
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const before = taken.length;
  await waitFor("the connection", () => taken.length > before);
  const accepted = taken.at(-1);
  if (accepted === undefined) throw new Error("not accepted");
  return { client, accepted };
}

function pattern(length: number, seed: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 7 + seed) & 255));
}

test("every byte of several connections comes through, in order, in both directions", async () => {
  const pairs = [await connected(), await connected(), await connected()];
  const sent = pairs.map((_, index) => pattern(3_000_000, index));
  const received = pairs.map(() => Buffer.alloc(0));
  const answers = pairs.map(async ({ client, accepted }, index) => {
    accepted.on("data", (chunk: Buffer) => {
      received[index] = Buffer.concat([received[index] ?? chunk, chunk]);
      if (received[index].length === 3_000_000) accepted.end(`goodbye ${index}`);
    });
    client.write(sent[index] ?? "");
    const chunks: Buffer[] = [];
    for await (const chunk of client) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  });
  expect(await Promise.all(answers)).toEqual(["goodbye 0", "goodbye 1", "goodbye 2"]);
  expect(received.map((bytes, index) => bytes.equals(sent[index] ?? bytes.subarray(1)))).toEqual([
    true,
    true,
    true,
  ]);
});

test("what is kept stays what it was where sharing is not allowed", async () => {
  mayShare = false;
  const { client, accepted } = await connected();
  const kept: Buffer[] = [];
  accepted.on("data", (chunk: Buffer) => kept.push(chunk));
  for (const text of ["one ", "two ", "three"]) {
    client.write(text);
    await waitFor(text, () => Buffer.concat(kept).toString().endsWith(text));
  }
  expect(Buffer.concat(kept).toString()).toBe("one two three");
  client.destroy();
});

test("a paused socket reads nothing until it is resumed", async () => {
  const { client, accepted } = await connected();
  let count = 0;
  accepted.on("data", (chunk: Buffer) => {
    count += chunk.length;
  });
  accepted.pause();
  client.write(Buffer.alloc(100_000));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(count).toBe(0);
  accepted.resume();
  await waitFor("the bytes", () => count === 100_000);
  client.destroy();
});

test("the end of the client is seen, addresses are told, and the server is not held open by what was given away", async () => {
  const { client, accepted } = await connected();
  expect(accepted.remoteAddress).toBe("127.0.0.1");
  expect(accepted.remotePort).toBe(client.localPort);
  accepted.on("data", () => undefined);
  const closed = once(accepted, "close");
  client.destroy();
  await closed;
  await new Promise<void>((resolve) => server.close(() => resolve()));
});
