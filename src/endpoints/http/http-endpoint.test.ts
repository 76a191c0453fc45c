import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ask,
  basic,
  type HttpFixture,
  reasonsOf,
  scripted,
  sendRaw,
  startHttp,
  stopDocument,
} from "../../../test/support/http-fixture.ts";
import { readStopDetail } from "../../operations/stops/stop-detail.ts";

const run = promisify(execFile);
const detail = "/v5/stop/info/A1/ACME";
let http: HttpFixture;

beforeAll(async () => {
  http = await startHttp();
});
afterAll(() => http.close());

describe("a request that is in order", () => {
  it("is answered under both versions, with a request id that is on its log line", async () => {
    for (const version of ["v5", "v6"]) {
      const reply = await ask(http.port, "GET", `/${version}/stop/info/A1/ACME`, { user: "host" });
      expect(reply).toMatchObject({ status: 200, body: stopDocument });
      expect(reply.headers["content-type"]).toBe("application/json");
      const line = http.log.find((one) => one.includes(String(reply.headers["x-request-id"])));
      expect(JSON.parse(line ?? "{}")).toMatchObject({
        level: "info",
        route: "getStopDetail",
        user: "host",
        company: "ACME",
        status: 200,
        bytesOut: stopDocument.length,
      });
    }
  });

  it("may write the company in any case and end with a slash", async () => {
    expect((await ask(http.port, "GET", "/v5/stop/info/A1/acme/", { user: "host" })).status).toBe(200);
  });

  it("may percent-encode its path once", async () => {
    expect((await ask(http.port, "GET", "/v5/stop/info/%411/ACME", { user: "host" })).status).toBe(200);
    expect((await ask(http.port, "GET", "/v5/stop/info/%25411/ACME", { user: "host" })).body).toContain(
      "%411",
    );
  });

  it("is answered to curl, with and without waiting for the challenge", async () => {
    const url = `http://127.0.0.1:${http.port}${detail}`;
    for (const how of ["--basic", "--anyauth"]) {
      expect((await run("curl", ["-sS", how, "-u", "host:pä:ss", url])).stdout).toBe(stopDocument);
    }
  });

  it("is answered fifty at a time over few connections", async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => ask(http.port, "GET", detail, { user: "host" })),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it.each(["a", "é", "Ł", "😀"])("is answered with all of a text of %s, short or long", async (character) => {
    const texts = [1, 4_095, 4_097, 65_535, 65_537, 200_000].map((length) => character.repeat(length));
    const scripts = [scripted(readStopDetail, async ({ stopNbr }) => texts[Number(stopNbr)] ?? "")];
    const fixture = await startHttp({}, { scripts });
    for (const [index, text] of texts.entries()) {
      const reply = await ask(fixture.port, "GET", `/v5/stop/info/${index}/ACME`, { user: "host" });
      expect(reply.headers["content-length"]).toBe(String(Buffer.byteLength(text)));
      expect(reply.body === text).toBe(true);
    }
    await fixture.close();
  });

  it("is answered in order when several are pipelined", async () => {
    const one = `GET ${detail} HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("host")}\r\n`;
    const text = await sendRaw(
      http.port,
      `${one}\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\n${one}Connection: close\r\n\r\n`,
    );
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 200"]);
  });
});

describe("methods", () => {
  it("HEAD answers like GET, without the body", async () => {
    const reply = await ask(http.port, "HEAD", detail, { user: "host" });
    expect(reply).toMatchObject({ status: 200, body: "" });
    expect(reply.headers["content-length"]).toBe(String(stopDocument.length));
  });

  it("OPTIONS answers with the methods, without a sign-in", async () => {
    const reply = await ask(http.port, "OPTIONS", "/api/Stop/ACME");
    expect(reply).toMatchObject({ status: 204, headers: { allow: "POST, GET, HEAD, OPTIONS" } });
    const text = await sendRaw(http.port, "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(text).toMatch(/^HTTP\/1.1 204 [\s\S]*allow: GET, HEAD, POST, OPTIONS/);
  });

  it.each(["PUT", "DELETE", "PROPFIND", "POST"])(
    "%s on a read is refused with 941 and Allow",
    async (method) => {
      const reply = await ask(http.port, method, detail, { user: "host", content: "" });
      expect([reply.status, reasonsOf(reply), reply.headers.allow]).toEqual([
        405,
        [941],
        "GET, HEAD, OPTIONS",
      ]);
    },
  );

  it("unknown ones and CONNECT are refused", async () => {
    expect(await sendRaw(http.port, "BREW / HTTP/1.1\r\nHost: x\r\n\r\n")).toMatch(
      /^HTTP\/1.1 405 [\s\S]*941/,
    );
    expect(await sendRaw(http.port, "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n")).toMatch(/^HTTP\/1.1 405 /);
  });
});

describe("paths", () => {
  it.each([
    "/",
    "/v5",
    "/v4/stop/info/A1/ACME",
    "/v5/stop/info/A1",
    "/v5//stop/info/A1/ACME",
    "/V5/stop/info/A1/ACME",
  ])("%s is no operation", async (path) => {
    const reply = await ask(http.port, "GET", path, { user: "host" });
    expect([reply.status, reasonsOf(reply)]).toEqual([404, [940]]);
  });

  it.each([
    ["an encoded slash", "/v5/stop/info/A%2F1/ACME"],
    ["an encoded backslash", "/v5/stop/info/A%5C1/ACME"],
    ["NUL", "/v5/stop/info/A%001/ACME"],
    ["a dot segment", "/v5/stop/../stop/info/A1/ACME"],
    ["an encoded dot segment", "/v5/stop/info/%2e%2E/ACME"],
    ["a broken escape", "/v5/stop/info/A%zz/ACME"],
    ["an overlong escape", "/v5/stop/info/%c0%af/ACME"],
    ["an absolute form with a user", `http://host@127.0.0.1${detail}`],
    ["an absolute form of another scheme", `ftp://127.0.0.1${detail}`],
    ["a dot segment in an absolute form", "http://127.0.0.1/v5/../v5/stop/info/A1/ACME"],
    ["a fragment", `${detail}#x`],
  ])("%s is refused", async (_what, path) => {
    const auth = `Authorization: ${basic("host")}\r\nConnection: close\r\n`;
    expect(await sendRaw(http.port, `GET ${path} HTTP/1.1\r\nHost: x\r\n${auth}\r\n`)).toMatch(
      /^HTTP\/1.1 400 /,
    );
  });

  it("an absolute form is taken, whatever its authority, and logged as its path", async () => {
    const auth = `Authorization: ${basic("host")}\r\nConnection: close\r\n`;
    for (const authority of ["http://127.0.0.1", "HTTPS://gateway.example:8443", "http://[::1]:80"]) {
      const reply = await sendRaw(http.port, `GET ${authority}${detail} HTTP/1.1\r\nHost: x\r\n${auth}\r\n`);
      expect(reply).toMatch(/^HTTP\/1.1 200 /);
    }
    expect(http.log.filter((line) => line.includes(`"path":"${detail}"`)).length).toBeGreaterThanOrEqual(3);
    const bare = await sendRaw(http.port, `GET http://x?a=1 HTTP/1.1\r\nHost: x\r\n${auth}\r\n`);
    expect(bare).toMatch(/^HTTP\/1.1 404 /);
  });

  it("a request line without a version is refused", async () => {
    expect(await sendRaw(http.port, `GET /healthz\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /);
    expect(await sendRaw(http.port, `GET /healthz HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 /);
  });

  it("the driver of a load is taken away without a body, while a driver is given with one alone", async () => {
    const path = "/v5/load/unassign/driver/L1/ACME";
    expect((await ask(http.port, "POST", path, { user: "host" })).status).toBe(200);
    const assigned = await ask(http.port, "POST", "/v5/load/assign/driver/L1/ACME", { user: "host" });
    expect([assigned.status, reasonsOf(assigned)]).toEqual([415, [942]]);
  });

  it("legacy paths match in any case, other entities than load and stop are not there", async () => {
    expect((await ask(http.port, "GET", "/API/STOP/ACME?x=1", { user: "host" })).status).toBe(200);
    expect(reasonsOf(await ask(http.port, "GET", "/api/pallet/ACME", { user: "host" }))).toEqual([940]);
    expect((await ask(http.port, "GET", "/api/Load/ACME", { user: "host" })).status).toBe(200);
  });

  it("unknown query parameters are refused with 910 where there are none", async () => {
    const reply = await ask(http.port, "GET", `${detail}?stop=1`, { user: "host" });
    expect([reply.status, reasonsOf(reply)]).toEqual([400, [910]]);
  });

  it("stand under the base path too, the legacy ones and health also at the root", async () => {
    const based = await startHttp({ basePath: "/rest" });
    const statusOf = async (path: string) => (await ask(based.port, "GET", path, { user: "host" })).status;
    expect(
      await Promise.all(
        ["/rest/v5/stop/info/A1/ACME", "/rest/api/stop/ACME", "/api/stop/ACME"].map(statusOf),
      ),
    ).toEqual([200, 200, 200]);
    expect(await Promise.all(["/rest/healthz", "/readyz", detail].map(statusOf))).toEqual([200, 200, 404]);
    await based.close();
  });
});

describe("heads that could be read in two ways", () => {
  const get = `GET ${detail} HTTP/1.1\r\nAuthorization: ${basic("host")}\r\n`;
  const post = `POST /v5/businesspartner/update/ACME HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: ${basic("host")}\r\n`;
  it.each([
    ["two Host headers", `${get}Host: x\r\nHost: y\r\n\r\n`],
    ["no Host header", `${get}\r\n`],
    ["a Host that is none", `${get}Host: a/b\r\n\r\n`],
    ["two Authorization headers", `${get}Host: x\r\nAuthorization: ${basic("viewer")}\r\n\r\n`],
    ["two lengths", `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ["two equal lengths", `${post}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
    ["a negative length", `${post}Content-Length: -2\r\n\r\n{}`],
    ["a length with a sign", `${post}Content-Length: +2\r\n\r\n{}`],
    ["a length in hexadecimal", `${post}Content-Length: 0x2\r\n\r\n{}`],
    ["a length that overflows", `${post}Content-Length: 99999999999999999999999\r\n\r\n{}`],
    ["length and chunks", `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["chunks twice", `${post}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
    ["another encoding", `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ["an encoding that is not the last", `${post}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
    ["an obscured encoding", `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ["a bad chunk size", `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`],
    ["a space before the colon", `${get}Host : x\r\n\r\n`],
    ["a folded header", `${get}Host: x\r\n y\r\n\r\n`],
    ["a bare line feed", `GET ${detail} HTTP/1.1\nHost: x\n\n`],
    ["another expectation", `${post}Expect: tea\r\nContent-Length: 2\r\n\r\n{}`],
    ["no HTTP at all", "\u0016\u0003\u0001\u0002\u0000hello\r\n\r\n"],
  ])("%s: refused with a 4xx, and the connection is closed", async (_what, text) => {
    expect(await sendRaw(http.port, text)).toMatch(/^HTTP\/1.1 4\d\d [\s\S]*x-request-id: /);
  });

  it("a head beyond its limit is refused with 431", async () => {
    const text = await sendRaw(http.port, `${get}Host: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1.1 431 [\s\S]*909/);
  });

  it("the server is well after all of them", async () => {
    expect((await ask(http.port, "GET", detail, { user: "host" })).status).toBe(200);
  });
});

describe("health", () => {
  it("answers without a sign-in, and says 503 with the checks when it is not ready", async () => {
    expect(await ask(http.port, "GET", "/healthz")).toMatchObject({ status: 200, body: "ok\n" });
    const checks = { store: true, disk: false };
    const health = () => ({ isReady: false, checks, messages: ["company ACME: a file waits"] });
    const other = await startHttp({ metricsFrom: ["192.0.2.1"] }, { health });
    const reply = await ask(other.port, "GET", "/readyz");
    expect([reply.status, JSON.parse(reply.body)]).toEqual([503, { status: "not ready", checks }]);
    await other.close();
  });

  it("says why, and what is held, to those who may look at the figures alone", async () => {
    const messages = ["company ACME: a file waits"];
    const health = () => ({ isReady: true, checks: { store: true }, messages });
    const other = await startHttp({}, { health });
    const reply = await ask(other.port, "GET", "/readyz");
    expect(JSON.parse(reply.body)).toEqual({ status: "ready", checks: { store: true }, messages });
    await other.close();
  });
});

describe("failures of our own", () => {
  it("are answered with 998 and the request id; the cause stands once in the log and nowhere else", async () => {
    const reply = await ask(http.port, "GET", "/v5/stop/info/boom/ACME", { user: "host" });
    expect([reply.status, reasonsOf(reply)]).toEqual([500, [998]]);
    expect(reply.body).toContain(String(reply.headers["x-request-id"]));
    expect(reply.body).not.toContain("secret");
    expect(http.log.filter((line) => line.includes("/secret/path"))).toHaveLength(1);
  });

  it("no password and no Authorization header is ever logged", () => {
    const log = http.log.join("");
    expect(log).not.toContain("pä:ss");
    expect(log).not.toContain(basic("host").slice(6));
  });
});
