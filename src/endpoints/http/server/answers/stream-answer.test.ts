import { createServer, type IncomingMessage, type Server, request } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EventStream } from "../answer.ts";
import { type SendingStream, sendStream } from "./stream-answer.ts";

interface Sent {
  readonly stream: EventStream;
  readonly sending: SendingStream;
  isSubscribed: boolean;
}

let server: Server;
let opened: Promise<Sent>;

beforeEach(async () => {
  const { promise, resolve } = Promise.withResolvers<Sent>();
  opened = promise;
  server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    let sent: Sent | undefined;
    const sending = sendStream(response, {
      turnAway: () => undefined,
      subscribe(stream) {
        void setImmediate().then(() => {
          sent = { stream, sending, isSubscribed: true };
          resolve(sent);
        });
        return () => {
          if (sent !== undefined) sent.isSubscribed = false;
        };
      },
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(() => server.close());

async function open(): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const asked = request({ host: "127.0.0.1", port, agent: false });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return answer;
}

test("the head goes out at once, and each event when it is sent", async () => {
  const answer = await open();
  const { stream } = await opened;
  answer.setEncoding("utf8");
  stream.send("data: one\n\n");
  expect(await once(answer, "data")).toEqual(["data: one\n\n"]);
  stream.send("data: two\n\n");
  expect(await once(answer, "data")).toEqual(["data: two\n\n"]);
  answer.destroy();
});

test("a client that leaves ends the subscription, and what it got is known", async () => {
  const answer = await open();
  const sent = await opened;
  sent.stream.send("data: é\n\n");
  await once(answer, "data");
  answer.destroy();
  expect(await sent.sending.ended).toEqual({ status: 200, bytes: 10 });
  expect(sent.isSubscribed).toBe(false);
  sent.stream.send("nobody is there");
});

test("an end from here, as at a stop, comes to the client as the end of the answer", async () => {
  const answer = await open();
  const sent = await opened;
  sent.stream.send("data: last\n\n");
  sent.sending.end();
  sent.sending.end();
  answer.resume();
  await once(answer, "end");
  await sent.sending.ended;
  expect([answer.complete, sent.isSubscribed]).toEqual([true, false]);
});

test("a client that reads nothing is cut off, before its events fill the memory", async () => {
  const answer = await open();
  answer.pause();
  const sent = await opened;
  const event = `data: ${"x".repeat(65_536)}\n\n`;
  let isOver = false;
  void sent.sending.ended.then(() => {
    isOver = true;
  });
  let events = 0;
  for (; !isOver && events < 2_000; events += 1) {
    sent.stream.send(event);
    await setImmediate();
  }
  expect(isOver).toBe(true);
  expect(sent.isSubscribed).toBe(false);
  answer.destroy();
});
