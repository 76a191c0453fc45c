import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { waitFor } from "../../../../../test/support/wait-for.ts";
import type { Streamed } from "./file-answer.ts";
import { sendParts } from "./parts-answer.ts";

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A server that answers with the parts; `sent` tells how that ended. */
async function serve(
  parts: AsyncIterable<string>,
): Promise<{ open(): Promise<IncomingMessage>; sent: Promise<Streamed> }> {
  const { promise: sent, resolve } = Promise.withResolvers<Streamed>();
  server = createServer((_request, response) => {
    const begin = () => void response.writeHead(200);
    const refuse = () => {
      response.writeHead(503).end("later");
      return { status: 503, bytes: 5 };
    };
    void sendParts(response, { parts, begin, refuse }).then(resolve);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const open = async () => {
    const asked = request({ host: "127.0.0.1", port, agent: false });
    asked.end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return answer;
  };
  return { open, sent };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of answer.setEncoding("utf8")) text += part;
  return text;
}

test("the first part goes out before the second is made", async () => {
  const second = Promise.withResolvers<string>();
  async function* parts() {
    yield "first,";
    yield await second.promise;
  }
  const { open, sent } = await serve(parts());
  const answer = await open();
  expect(await once(answer.setEncoding("utf8"), "data")).toEqual(["first,"]);
  second.resolve("zwölf");
  expect(await textOf(answer)).toBe("zwölf");
  expect(await sent).toEqual({ status: 200, bytes: 12 });
});

test("what fails before the first part is refused; what fails later ends the connection", async () => {
  const seen = Promise.withResolvers<void>();
  async function* failing(parts: readonly string[]): AsyncGenerator<string> {
    for (const part of parts) {
      yield part;
      await seen.promise;
    }
    throw new Error("too long");
  }
  const early = await serve(failing([]));
  expect((await early.open()).statusCode).toBe(503);
  expect(await early.sent).toEqual({ status: 503, bytes: 5 });
  server.close();
  const late = await serve(failing(["row"]));
  const answer = await late.open();
  expect(answer.statusCode).toBe(200);
  seen.resolve();
  await expect(textOf(answer)).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(await late.sent).toMatchObject({ status: 200, failure: { message: "too long" } });
});

test("no more is made than the client takes, and nothing after it has left", async () => {
  let [made, isEnded] = [0, false];
  async function* endless() {
    try {
      for (;;) {
        made += 1;
        yield "x".repeat(1_000_000);
      }
    } finally {
      isEnded = true;
    }
  }
  const { open, sent } = await serve(endless());
  const answer = await open();
  answer.pause();
  let before = -1;
  await waitFor("the parts to wait for the client", () => {
    const isStill = made === before;
    before = made;
    return isStill;
  });
  expect(made).toBeLessThan(50);
  answer.destroy();
  expect(await sent).not.toHaveProperty("failure");
  expect(isEnded).toBe(true);
});
