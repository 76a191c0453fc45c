import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { basic, defaultOptions, type HttpFixture, startHttp } from "../../../../test/support/http-fixture.ts";
import { localHeader } from "../../../lib/proxy-protocol/testing/headers.ts";

const balancers = { proxyProtocolFrom: ["127.0.0.1"] };
const header = "PROXY TCP4 198.51.100.7 10.0.0.4 4711 80\r\n";

let http: HttpFixture;
afterEach(() => http.close());

/** What comes back on a connection that begins like this, until it is closed. */
async function answersTo(...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = await opened();
  for (const part of parts) socket.write(part);
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

async function opened(): Promise<Socket> {
  const socket = connect({ port: http.port, host: "127.0.0.1", noDelay: true });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

function get(path: string, more = ""): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
}

const last = "Connection: close\r\n";

test("the client's address counts for bans, metrics and passwords in clear", async () => {
  http = await startHttp({ ...balancers, allowPlain: true });
  const signed = `Authorization: ${basic("host")}\r\n${last}`;
  const detail = "/v5/stop/info/A1/ACME";
  expect(await answersTo(header, get(detail, signed))).not.toMatch(/ 40[13] | 429 /);
  expect(http.attempts.map(({ address }) => address)).toEqual(["198.51.100.7"]);
  http.bannedForMs.set("198.51.100.7", 60_000);
  expect(await answersTo(header, get(detail, signed))).toContain(" 429 ");
  http.bannedForMs.clear();
  expect(await answersTo(header, get("/metrics", last))).toContain(" 404 ");
  expect(await answersTo(localHeader, get("/metrics", last))).toContain(" 200 ");
  http.endpoint.reconfigure({ ...defaultOptions, ...balancers, allowPlain: false });
  expect(await answersTo(header, get(detail, signed))).toContain(" 403 ");
});

test("a proxy in front of the balancer is believed when it is a trusted one", async () => {
  http = await startHttp({ ...balancers, allowPlain: true, trustedProxies: ["198.51.100.7"] });
  const signed = `Authorization: ${basic("host")}\r\nX-Forwarded-For: 203.0.113.9\r\n${last}`;
  await answersTo(header, get("/v5/stop/info/A1/ACME", signed));
  expect(http.attempts.map(({ address }) => address)).toEqual(["203.0.113.9"]);
});

test("requests behind each other on one connection are all of its client", async () => {
  http = await startHttp({ ...balancers, allowPlain: true });
  const signed = `Authorization: ${basic("host")}\r\n`;
  const request = get("/v5/stop/info/A1/ACME", signed);
  await answersTo(header + request, request, get("/healthz", last));
  expect(http.attempts.map(({ address }) => address)).toEqual(["198.51.100.7", "198.51.100.7"]);
});

test("silence counts for the client, and not for the balancer itself", async () => {
  http = await startHttp({ ...balancers, headersTimeoutMs: 200, requestTimeoutMs: 300 });
  expect(await answersTo(localHeader)).toContain(" 408 ");
  expect(http.silences).toEqual([]);
  expect(await answersTo(header)).toContain(" 408 ");
  expect(http.silences).toEqual(["198.51.100.7"]);
});

test("one address may hold as many connections as ever through the balancer, and the balancer any number", async () => {
  http = await startHttp({ ...balancers, maxConnectionsPerAddress: 1 });
  const held = await opened();
  held.write(header + get("/healthz"));
  await once(held, "data");
  expect(await answersTo(header, get("/healthz", last))).not.toContain(" 200 ");
  expect(http.brokenLimits).toEqual(["198.51.100.7"]);
  const other = header.replace("198.51.100.7", "198.51.100.8");
  expect(await answersTo(other, get("/healthz", last))).toContain(" 200 ");
  const own = [await opened(), await opened()];
  for (const socket of own) {
    socket.write(Buffer.concat([localHeader, Buffer.from(get("/healthz"))]));
    expect(String(await once(socket, "data"))).toContain(" 200 ");
    socket.destroy();
  }
  held.destroy();
});

test("balancers may be others after a reload", async () => {
  http = await startHttp();
  http.endpoint.reconfigure({ ...defaultOptions, ...balancers });
  expect(await answersTo(header, get("/healthz", last))).toContain(" 200 ");
});

test("a stop does not wait for headers", async () => {
  http = await startHttp(balancers);
  const socket = await opened();
  socket.write(header.slice(0, 9));
  const other = await opened();
  other.write(header + get("/healthz"));
  await once(other, "data");
  await http.close();
  expect(http.log.join("")).not.toContain("no whole PROXY header");
});
