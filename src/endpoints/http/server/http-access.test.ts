import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, basic, type HttpFixture, reasonsOf, startHttp } from "../../../../test/support/http-fixture.ts";
import { createAddressSet } from "../../../lib/address-range.ts";
import { clientAddress } from "./client-address.ts";

const detail = "/v5/stop/info/A1/ACME";
let http: HttpFixture;

beforeAll(async () => {
  http = await startHttp({ trustedProxies: ["127.0.0.1"] });
});
afterAll(() => http.close());

describe("signing in", () => {
  it.each([
    ["without credentials", undefined],
    ["with a wrong password", basic("host", "wrong")],
    ["as an unknown user", basic("nobody", "x")],
    ["with another scheme", "Bearer abc"],
    ["with credentials that are no Base64", "Basic ???"],
    ["without a colon", `Basic ${Buffer.from("host").toString("base64")}`],
  ])("%s is answered with 401 and the challenge", async (_how, authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    const reply = await ask(http.port, "GET", detail, { headers });
    expect([reply.status, reasonsOf(reply)]).toEqual([401, [930]]);
    expect(reply.headers["www-authenticate"]).toBe('Basic realm="dropgate", charset="UTF-8"');
  });

  it("takes UTF-8, Latin-1 of older clients, and any case of the scheme", async () => {
    const latin1 = `bASIC ${Buffer.from("host:pä:ss", "latin1").toString("base64")}`;
    for (const authorization of [basic("host"), latin1]) {
      expect((await ask(http.port, "GET", detail, { headers: { authorization } })).status).toBe(200);
    }
  });

  it("passes on a refusal for too many attempts with Retry-After", async () => {
    const reply = await ask(http.port, "GET", detail, { user: "throttled" });
    expect([reply.status, reasonsOf(reply), reply.headers["retry-after"]]).toEqual([429, [933], "12"]);
  });

  it("does not look at the credentials of a banned address", async () => {
    http.bannedForMs.set("192.0.2.9", 90_500);
    const before = http.attempts.length;
    const headers = { "x-forwarded-for": "192.0.2.9" };
    const reply = await ask(http.port, "GET", detail, { user: "host", headers });
    expect([reply.status, reasonsOf(reply), reply.headers["retry-after"]]).toEqual([429, [933], "91"]);
    expect(http.attempts).toHaveLength(before);
    expect((await ask(http.port, "GET", "/healthz", { headers })).status).toBe(200);
  });
});

describe("metrics", () => {
  it("are given to the addresses of http.metricsFrom without a sign-in, and to nobody else", async () => {
    const reply = await ask(http.port, "GET", "/metrics");
    expect([reply.status, reply.body]).toEqual([200, "dropgate_ready 1\n"]);
    const headers = { "x-forwarded-for": "192.0.2.9" };
    expect((await ask(http.port, "GET", "/metrics", { headers })).status).toBe(404);
  });

  it.each(["x-forwarded-for", "forwarded", "x-real-ip", "x-forwarded-proto", "via"])(
    "are given to nobody behind a proxy that is not trusted, as its %s tells",
    async (name) => {
      const open = await startHttp({ trustedProxies: [] });
      const through = await ask(open.port, "GET", "/metrics", { headers: { [name]: "127.0.0.1" } });
      expect(through.status).toBe(404);
      expect((await ask(open.port, "GET", "/metrics")).status).toBe(200);
      await open.close();
    },
  );

  it("are given to who is behind a trusted proxy and may see them", async () => {
    const headers = { forwarded: 'for="127.0.0.7:4711";proto=https' };
    expect((await ask(http.port, "GET", "/metrics", { headers })).status).toBe(200);
  });
});

describe("access", () => {
  it("to a company that does not exist and to one of others is refused in the same words", async () => {
    const refusal = async (code: string) => {
      const reply = await ask(http.port, "GET", `/v5/stop/info/A1/${code}`, { user: "host" });
      expect([reply.status, reasonsOf(reply)]).toEqual([401, [930]]);
      return reply.body;
    };
    expect(await refusal("Beta")).toBe(await refusal("NoSuch"));
  });

  it("without the role is refused with 932, whatever the number", async () => {
    for (const number of ["A1", "none"]) {
      const reply = await ask(http.port, "GET", `/v5/stop/info/${number}/ACME`, { user: "viewer" });
      expect([reply.status, reasonsOf(reply)]).toEqual([403, [932]]);
    }
  });

  it("to what does not exist is answered with 404 only to those who may know", async () => {
    expect(reasonsOf(await ask(http.port, "GET", "/v5/stop/info/none/ACME", { user: "host" }))).toEqual([
      921,
    ]);
    expect((await ask(http.port, "GET", "/v5/stop/info/none/ACME")).status).toBe(401);
  });
});

describe("the client's address", () => {
  const trusted = createAddressSet(["127.0.0.1", "10.0.0.0/8", "2001:db8::/32"]);
  const ofProxy = (headers: Record<string, string>) => clientAddress("127.0.0.1", headers, trusted);

  it.each([
    ["198.51.100.7:4711", "198.51.100.7"],
    ["[2001:db9::7]", "2001:db9::7"],
    ["[2001:db9::7]:4711", "2001:db9::7"],
    ["203.0.113.5, [::ffff:198.51.100.7]:80", "198.51.100.7"],
    ["198.51.100.7:4711, 10.0.0.1:80", "198.51.100.7"],
    ["198.51.100.7:x", "127.0.0.1"],
    ["[198.51.100.7", "127.0.0.1"],
    ["", "127.0.0.1"],
  ])("is read from X-Forwarded-For: %s", (header, expected) => {
    expect(ofProxy({ "x-forwarded-for": header })).toBe(expected);
  });

  it.each([
    ["for=198.51.100.7", "198.51.100.7"],
    ['For="198.51.100.7:4711";proto=https;by=203.0.113.43', "198.51.100.7"],
    ['for=203.0.113.5, for="[2001:db9::7]:4711"; host="a,b;for=192.0.2.1"', "2001:db9::7"],
    ["for=198.51.100.7, for=10.0.0.1", "198.51.100.7"],
    ["for=198.51.100.7, proto=https", "127.0.0.1"],
    ["for=unknown", "127.0.0.1"],
    ["for=_hidden, for=10.0.0.1", "10.0.0.1"],
    ['for="198.51.100.7', "127.0.0.1"],
  ])("is read from Forwarded: %s", (header, expected) => {
    expect(ofProxy({ forwarded: header })).toBe(expected);
  });

  it("is that of X-Forwarded-For when both headers are there, and that of the peer when it is not trusted", () => {
    const headers = { forwarded: "for=203.0.113.5", "x-forwarded-for": "198.51.100.7" };
    expect(ofProxy(headers)).toBe("198.51.100.7");
    expect(clientAddress("192.0.2.1", headers, trusted)).toBe("192.0.2.1");
  });

  it.each([
    ["192.0.2.1", "198.51.100.7", "192.0.2.1"],
    ["127.0.0.1", undefined, "127.0.0.1"],
    ["127.0.0.1", "198.51.100.7", "198.51.100.7"],
    ["127.0.0.1", "203.0.113.5, 198.51.100.7", "198.51.100.7"],
    ["127.0.0.1", "203.0.113.5, 198.51.100.7, 10.1.2.3", "198.51.100.7"],
    ["127.0.0.1", "10.1.2.3", "10.1.2.3"],
    ["127.0.0.1", "junk", "127.0.0.1"],
    ["2001:db8::1", "::ffff:198.51.100.7", "198.51.100.7"],
  ])("of peer %s with X-Forwarded-For %s is %s", (peer, header, expected) => {
    const headers = header === undefined ? {} : { "x-forwarded-for": header };
    expect(clientAddress(peer, headers, trusted)).toBe(expected);
  });

  it("reaches the sign-in and the log", async () => {
    const headers = { "x-forwarded-for": "198.51.100.7" };
    await ask(http.port, "GET", detail, { user: "host", headers });
    expect(http.attempts.at(-1)?.address).toBe("198.51.100.7");
    expect(http.log.at(-1)).toContain('"address":"198.51.100.7"');
  });
});

const outside = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

describe.skipIf(outside === undefined)("plain HTTP from another address than loopback", () => {
  const from = { host: outside ?? "", localAddress: outside ?? "", user: "host" };

  it("is refused before any credentials are asked for, with the remedy", async () => {
    const open = await startHttp({ host: "0.0.0.0" });
    const reply = await ask(open.port, "GET", detail, from);
    expect([reply.status, reasonsOf(reply), reply.headers["www-authenticate"]]).toEqual([
      403,
      [930],
      undefined,
    ]);
    expect(reply.body).toContain("https");
    expect(open.attempts).toEqual([]);
    expect((await ask(open.port, "GET", "/healthz", { ...from })).status).toBe(200);
    await open.close();
  });

  it("is taken with allowPlain", async () => {
    const open = await startHttp({ host: "0.0.0.0", allowPlain: true });
    expect((await ask(open.port, "GET", detail, from)).status).toBe(200);
    await open.close();
  });
});
