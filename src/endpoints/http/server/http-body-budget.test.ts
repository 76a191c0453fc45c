import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import {
  type Ask,
  ask,
  basic,
  type HttpFixture,
  reasonsOf,
  scripted,
  startHttp,
} from "../../../../test/support/http-fixture.ts";
import { importBusinessPartners } from "../../../operations/imports/business-partners.ts";
import { reportGpsPosition } from "../../../operations/execution/report-gps-position.ts";
import type { HttpOptions } from "./http-options.ts";

const path = "/v5/businesspartner/update/ACME";
const megabyte = 1_000_000;
const large = `{"x":"${"x".repeat(megabyte)}"}`;
const done = { kind: "imported", created: 0, updated: 0 } as const;
const limits = { maxBodyBytes: 2 * megabyte, maxBodyBytesInWork: 3.5 * megabyte };

let http: HttpFixture;
afterEach(() => http.close());

/** A server whose imports are held until they are let go. */
async function startHolding(options: Partial<HttpOptions> = {}) {
  const held: (() => void)[] = [];
  const seen = { bytes: 0, mostBytes: 0, imports: 0 };
  http = await startHttp(
    { ...limits, ...options },
    {
      scripts: [
        scripted(importBusinessPartners, async ({ body, large: bytes }) => {
          const length = bytes?.length ?? JSON.stringify(body).length;
          seen.imports += 1;
          seen.bytes += length;
          seen.mostBytes = Math.max(seen.mostBytes, seen.bytes);
          if (length > 65_536) await new Promise<void>((resolve) => held.push(resolve));
          seen.bytes -= length;
          return done;
        }),
      ],
    },
  );
  return { held, seen };
}

const post = (content: string, more: Ask = {}) =>
  ask(http.port, "POST", path, { user: "host", type: "application/json", content, ...more });
const chunked = { headers: { "transfer-encoding": "chunked" } };

function opened(head: string, sent = "", to = path): Promise<Socket> {
  return new Promise((resolve) => {
    const lines = `POST ${to} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: ${basic("host")}\r\n`;
    const socket = connect(http.port, "127.0.0.1", () =>
      socket.write(`${lines}${head}\r\n\r\n${sent}`, () => resolve(socket)),
    );
    socket.on("error", () => undefined);
  });
}

function nextText(socket: Socket): Promise<string> {
  return new Promise((resolve) => socket.once("data", (chunk: Buffer) => resolve(chunk.toString())));
}

describe("large bodies", () => {
  it("are never more at a time than the budget has room for; all are answered, small ones at once", async () => {
    const { held, seen } = await startHolding();
    const replies = Array.from({ length: 12 }, (_, index) => post(large, index % 3 === 0 ? chunked : {}));
    await expect.poll(() => held.length).toBeGreaterThan(0);
    for (const more of [{}, chunked]) expect((await post('{"a":1}', more)).status).toBe(200);
    let answered = 0;
    for (const reply of replies) void reply.then(() => (answered += 1));
    while (answered < replies.length) {
      await expect.poll(() => held.length > 0 || answered === replies.length).toBe(true);
      held.shift()?.();
    }
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(seen.imports).toBe(14);
    expect(seen.mostBytes).toBeGreaterThan(2 * megabyte);
    expect(seen.mostBytes).toBeLessThan(limits.maxBodyBytesInWork);
  });

  it("are not asked for before there is room for them", async () => {
    const { held } = await startHolding({ maxBodyBytesInWork: limits.maxBodyBytes });
    const first = post(large);
    await expect.poll(() => held.length).toBe(1);
    const waiting = await opened(`Expect: 100-continue\r\nContent-Length: ${large.length + megabyte / 2}`);
    let heard = "";
    waiting.on("data", (chunk: Buffer) => (heard += chunk.toString()));
    expect((await post("{}")).status).toBe(200);
    expect(heard).toBe("");
    held.shift()?.();
    expect((await first).status).toBe(200);
    await expect.poll(() => heard).toContain("100 Continue");
    waiting.destroy();
  });

  it("whose client leaves, waiting or half sent, give their place to the next", async () => {
    const { held } = await startHolding({ maxBodyBytesInWork: limits.maxBodyBytes, maxRequestsInFlight: 4 });
    const half = await opened(`Content-Length: ${limits.maxBodyBytes}\r\nExpect: 100-continue`);
    expect(await nextText(half)).toContain("100 Continue");
    const left = [await opened("Content-Length: 1000000", "{"), await opened("Content-Length: 1000000", "{")];
    // Two wait: that is half of four requests, and a third is turned away.
    await expect.poll(async () => (await post(large)).status).toBe(503);
    for (const socket of left) socket.destroy();
    const next = post(large);
    half.destroy();
    await expect.poll(() => held.length).toBe(1);
    held.shift()?.();
    expect((await next).status).toBe(200);
  });

  it("that find too many waiting are answered with 503, 999 and Retry-After", async () => {
    const { held } = await startHolding({ maxBodyBytesInWork: limits.maxBodyBytes, maxRequestsInFlight: 2 });
    const first = post(large.padEnd(1.5 * megabyte));
    await expect.poll(() => held.length).toBe(1);
    const waiting = await opened("Content-Length: 1000000", "{");
    const refused = ask(http.port, "POST", path, {
      ...{ user: "host", type: "application/json", content: large, ...chunked },
    });
    const reply = await refused;
    expect([reply.status, reasonsOf(reply), reply.headers["retry-after"]]).toEqual([503, [999], "5"]);
    waiting.destroy();
    held.shift()?.();
    expect((await first).status).toBe(200);
  });

  it("that wait longer than a request may take are answered with 503, and the slow with 408", async () => {
    const { held } = await startHolding({
      ...{ maxBodyBytesInWork: limits.maxBodyBytes, requestTimeoutMs: 300, headersTimeoutMs: 300 },
    });
    const first = post(large.padEnd(1.5 * megabyte));
    await expect.poll(() => held.length).toBe(1);
    for (const more of [{}, chunked]) {
      const reply = await post(large, more);
      expect([reply.status, reasonsOf(reply)]).toEqual([503, [999]]);
    }
    held.shift()?.();
    expect((await first).status).toBe(200);
    expect(await nextText(await opened("Content-Length: 1000000", "{"))).toContain(" 408 ");
  });

  it("that wait are turned away by a stop, while those in work are finished", async () => {
    const { held } = await startHolding({ maxBodyBytesInWork: limits.maxBodyBytes });
    const first = post(large.padEnd(1.5 * megabyte));
    await expect.poll(() => held.length).toBe(1);
    const waiting = await opened(`Expect: 100-continue\r\nContent-Length: ${megabyte}`);
    const answer = nextText(waiting);
    expect((await post("{}")).status).toBe(200);
    const stopped = http.endpoint.stop(AbortSignal.timeout(10_000));
    expect(await answer).toMatch(/^HTTP\/1.1 503 [\s\S]*999/);
    held.shift()?.();
    expect((await first).status).toBe(200);
    await stopped;
  });

  it("that are too large without an announced length are still refused with 909", async () => {
    await startHolding();
    const reply = await post(" ".repeat(limits.maxBodyBytes + 1), chunked);
    expect([reply.status, reasonsOf(reply)]).toEqual([413, [909]]);
  });

  it("are let go of as bytes once their JSON is read", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const size = 32 * megabyte;
    const piece = Buffer.alloc(megabyte, " ");
    let keptBytes = Number.POSITIVE_INFINITY;
    http = await startHttp(
      { maxBodyBytes: size, maxBodyBytesInWork: size },
      {
        scripts: [
          scripted(reportGpsPosition, async () => {
            // What is garbage is swept beside the program: it can take a few rounds until all of it is gone.
            for (let round = 0; round < 20 && keptBytes > size / 2; round += 1) {
              await new Promise((resolve) => setImmediate(resolve));
              collect();
              keptBytes = process.memoryUsage().arrayBuffers - before;
            }
          }),
        ],
      },
    );
    // An import or an event with documents of this size is handed on as bytes, to be read elsewhere.
    const socket = await opened(`Content-Length: ${size}`, "{}", "/v5/event/gps/ACME");
    const answer = nextText(socket);
    collect();
    const before = process.memoryUsage().arrayBuffers;
    for (let sent = 2; sent < size; sent += piece.length) socket.write(piece.subarray(0, size - sent));
    expect(await answer).toContain(" 200 ");
    socket.destroy();
    expect(keptBytes).toBeLessThan(size / 2);
  });
});
