import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { listenFree } from "../../test/support/listen-free.ts";
import { connectSocket } from "./connect-socket.ts";
import type { TransferFault } from "./transfer-fault.ts";

const host = "127.0.0.1";
const never = new AbortController().signal;

async function listening(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer();
  const port = await listenFree(server);
  onTestFinished(() => void server.close());
  return { server, port };
}

function faultOf(connecting: Promise<Socket>): Promise<TransferFault> {
  return connecting.then(
    () => Promise.reject(new Error("it connected")),
    (fault: TransferFault) => fault,
  );
}

test("a server that listens is connected to, and an error of the socket afterwards ends nothing", async () => {
  const { server, port } = await listening();
  const accepted = once(server, "connection");
  const socket = await connectSocket({ host, port, connectMs: 60_000 }, never);
  const [other] = (await accepted) as [Socket];
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.destroy(new Error("it broke"));
  await closed;
  other.destroy();
});

test("a port at which nobody listens is unreachable, and the fault names the place", async () => {
  const { server, port } = await listening();
  server.close();
  await once(server, "close");
  const { outcome } = await faultOf(connectSocket({ host, port, connectMs: 60_000 }, never));
  expect(outcome).toMatchObject({ fault: "unreachable", isPermanent: false, scope: "target" });
  expect(outcome.message).toMatch(new RegExp(`^${host}:${port}: nothing listens there`));
});

test("a connection that takes longer than it may is given up, as a time-out", async () => {
  const { port } = await listening();
  // Behind this the loop comes to its timers before it asks for connections again.
  await setImmediate();
  const connecting = connectSocket({ host, port, connectMs: 0 }, never);
  const block = performance.now() + 20;
  while (performance.now() < block);
  expect((await faultOf(connecting)).message).toBe(`${host}:${port}: no connection within 0 ms.`);
});

test("aborted, before or while it connects, it ends at once and leaves no listener behind", async () => {
  const { port } = await listening();
  const place = { host, port, connectMs: 60_000 };
  expect((await faultOf(connectSocket(place, AbortSignal.abort()))).outcome.fault).toBe("connectionLost");
  const controller = new AbortController();
  const connecting = connectSocket(place, controller.signal);
  controller.abort();
  expect((await faultOf(connecting)).message).toContain("given up");
});
