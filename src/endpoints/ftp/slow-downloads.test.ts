/** Downloads whose client is slow: all of the file is sent, and lies in the system's buffers. */
import type { Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { closeOf, type FtpTestClient } from "./testing/ftp-client.ts";
import { type FtpTestServer, startFtpServer } from "./testing/start-ftp-server.ts";

const content = "x".repeat(200_000);

let server: FtpTestServer;
let client: FtpTestClient;

beforeAll(async () => {
  server = await startFtpServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  client = await server.signedIn();
});

const pickupsOf = (name: string) => server.fixture.pickups.filter(({ path }) => path.endsWith(name));

const isToldNotToCount = (name: string): boolean =>
  server.logLines.some(
    ({ msg, file }) => msg.includes("not counted as a download") && file === `/outbound/${name}`,
  );

/** Has the file sent to a client that reads nothing of it, and is told that it was sent. */
async function beginSlowly(name: string): Promise<Socket> {
  await server.write(`outbound/${name}`, content);
  const socket = await client.data();
  expect(await client.code(`RETR outbound/${name}`)).toBe(150);
  expect((await client.answer()).code).toBe(226);
  expect(pickupsOf(name)).toEqual([]);
  return socket;
}

test("one counts when the client has read it and closed the connection", async () => {
  const socket = await beginSlowly("slow.xml");
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await closeOf(socket);
  expect(bytes).toBe(content.length);
  await waitFor("the pick-up", () => pickupsOf("slow.xml").length === 1);
  expect(pickupsOf("slow.xml")).toMatchObject([{ kind: "downloaded", userName: "host" }]);
});

test("one of a client that dies does not count, and does when it is fetched again", async () => {
  const socket = await beginSlowly("dies.xml");
  socket.destroy();
  await waitFor("the end", () => isToldNotToCount("dies.xml"));
  expect(pickupsOf("dies.xml")).toEqual([]);
  expect((await client.get("RETR outbound/dies.xml")).content).toBe(content);
  expect(pickupsOf("dies.xml")).toHaveLength(1);
});

test("one that the client leaves open for another file does not count", async () => {
  await beginSlowly("left.xml");
  await server.write("outbound/next.xml", "next");
  expect((await client.get("RETR outbound/next.xml")).content).toBe("next");
  await waitFor("the end", () => isToldNotToCount("left.xml"));
  expect(pickupsOf("left.xml")).toEqual([]);
  expect(pickupsOf("next.xml")).toHaveLength(1);
});

test("one of a client that leaves while it is open does not count", async () => {
  await beginSlowly("leaves.xml");
  expect(await client.code("QUIT")).toBe(221);
  await client.closed();
  await waitFor("the end", () => isToldNotToCount("leaves.xml"));
  expect(pickupsOf("leaves.xml")).toEqual([]);
});
