import { execFile } from "node:child_process";
import { connect } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Ask,
  ask,
  basic,
  type HttpFixture,
  reasonsOf,
  scripted,
  sendRaw,
  startHttp,
} from "../../../../test/support/http-fixture.ts";
import { DropgateError } from "../../../lib/errors.ts";
import { submitStopDocument } from "../../../inbound/submit-stop-document.ts";
import { importBusinessPartners } from "../../../operations/imports/business-partners.ts";
import { importCustomers } from "../../../operations/imports/import-customers.ts";
import { importStops } from "../../../operations/imports/import-stops.ts";
import { rejectStop } from "../../../operations/stops/reject-stop.ts";
import { StoreError } from "../../../lib/store-error.ts";
import { waitToPass } from "../../../../test/support/wait-to-pass.ts";

const run = promisify(execFile);
const partners = "/v5/businesspartner/update/ACME";
const legacy = "/api/stop/ACME";
let http: HttpFixture;
let bodies: unknown[] = [];

beforeAll(async () => {
  http = await startHttp(
    {},
    {
      scripts: [
        scripted(importBusinessPartners, async ({ body }) => {
          bodies.push(body);
          return { kind: "imported", created: 0, updated: 0 };
        }),
      ],
    },
  );
});
afterAll(() => http.close());

const postJson = (content: string | Uint8Array, more: Ask = {}) =>
  ask(http.port, "POST", partners, { user: "host", type: "application/json", content, ...more });
const postXml = (content: string | Uint8Array, more: Ask = {}) =>
  ask(http.port, "POST", legacy, { user: "host", type: "application/xml", content, ...more });

describe("a JSON body", () => {
  it("is parsed and handed over, and the answer is Success", async () => {
    bodies = [];
    const reply = await postJson('\ufeff{"constructor":{"prototype":1},"a":[{"k":1},{"k":2}]}');
    expect([reply.status, reply.body]).toEqual([200, '{"status":"Success"}']);
    expect(bodies).toEqual([{ constructor: { prototype: 1 }, a: [{ k: 1 }, { k: 2 }] }]);
  });

  it.each([
    ["empty", ""],
    ["only spaces", " \n"],
    ["truncated", '{"a":'],
    ["not JSON", "<xml/>"],
    ["with a key twice", '{"a":1,"b":{"a":2},"a":3}'],
    ["with a key twice, once escaped", '{"a":1,"\\u0061":3}'],
    ["with __proto__", '{"__proto__":{"isAdmin":true}}'],
    ["with __proto__, escaped, deep", '[{"x":{"__pr\\u006fto__":1}}]'],
    ["with an open string", '{"a":"\\'],
    ["not UTF-8", Buffer.from([0x22, 0xc3, 0x28, 0x22])],
    ["UTF-16", Buffer.from('{"a":1}', "utf16le")],
  ])("%s is refused with 900", async (_what, content) => {
    const reply = await postJson(content);
    expect([reply.status, reasonsOf(reply)]).toEqual([400, [900]]);
  });

  it.each([
    ['{"stops":[{"palletID":340123450000000018}]}', 902, "stops[0].palletID has the number"],
    ['{"stops":[{"weight":1e400}]}', 902, "stops[0].weight has the number 1e400"],
    ['{"stops":[{"stopNbr":"V\\ud800"}]}', 900, "in stops[0].stopNbr"],
  ])("like %s, of which something would be lost, is refused with %d", async (content, code, words) => {
    const reply = await postJson(content);
    expect([reply.status, reasonsOf(reply), reply.body.includes(words)]).toEqual([400, [code], true]);
  });

  it("nested to 32 levels is taken, deeper ones are refused with 909, however deep", async () => {
    expect((await postJson(`${"[".repeat(32)}${"]".repeat(32)}`)).status).toBe(200);
    for (const depth of [33, 90_000]) {
      const reply = await postJson("[".repeat(depth));
      expect([reply.status, reasonsOf(reply)]).toEqual([413, [909]]);
    }
  });

  it.each([
    ["no type", undefined],
    ["another type", "application/x-www-form-urlencoded"],
    ["XML", "application/xml"],
    ["another charset", "application/json; charset=utf-16"],
  ])("with %s is refused with 942", async (_what, type) => {
    const { type: _type, ...plain } = { type: "", user: "host", content: "{}" };
    const reply = await ask(http.port, "POST", partners, type === undefined ? plain : { ...plain, type });
    expect([reply.status, reasonsOf(reply)]).toEqual([415, [942]]);
  });

  it.each([
    "application/json",
    "Application/JSON; charset=UTF-8",
    'application/json;charset="utf8"',
    "application/json;",
  ])("as %s is taken", async (type) => expect((await postJson("{}", { type })).status).toBe(200));

  it("that is compressed is refused with 942", async () => {
    expect(reasonsOf(await postJson("{}", { headers: { "content-encoding": "gzip" } }))).toEqual([942]);
  });

  it("with faults is refused with each of them, and the status of the first", async () => {
    const faults = [
      { code: "tooLong", message: "a is too long" },
      { code: "companyDiffers", message: "other" },
    ] as const;
    const refuse = () => Promise.reject(new DropgateError("tooLong", "a is too long", { faults }));
    const other = await startHttp({}, { scripts: [scripted(importBusinessPartners, refuse)] });
    const reply = await ask(other.port, "POST", partners, {
      user: "host",
      type: "application/json",
      content: "{}",
    });
    expect([reply.status, JSON.parse(reply.body)]).toEqual([
      400,
      {
        Reasons: [
          { description: "a is too long", reasonCode: 1401 },
          { description: "other", reasonCode: 905 },
        ],
      },
    ]);
    await other.close();
  });
});

describe("a body over the limit", () => {
  const tooMuch = "x".repeat(5_000_000);

  it("is refused with 909 and 413 when its length is announced, and the client gets to read it", async () => {
    const reply = await postJson(tooMuch);
    expect([reply.status, reasonsOf(reply), reply.headers.connection]).toEqual([413, [909], "close"]);
  });

  it("is refused when it comes in chunks", async () => {
    const reply = await postJson(tooMuch, { headers: { "transfer-encoding": "chunked" } });
    expect([reply.status, reasonsOf(reply)]).toEqual([413, [909]]);
  });

  it("is refused in a way that reaches a client which reads nothing before it has sent everything", async () => {
    const head = `POST ${partners} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: ${basic("host")}\r\n`;
    const socket = connect({ port: http.port, host: "127.0.0.1" }).pause();
    const sent = new Promise<unknown>((resolve) => {
      socket.write(`${head}Content-Length: ${tooMuch.length}\r\n\r\n${tooMuch}`, resolve);
    });
    socket.on("error", () => undefined);
    expect(await sent).toBeFalsy();
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk)).resume();
    await new Promise((resolve) => socket.on("close", resolve));
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1.1 413 /);
  });

  it("is not even sent by a client that asks first", async () => {
    const head = `POST ${partners} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n`;
    const auth = `Authorization: ${basic("host")}\r\n`;
    expect(await sendRaw(http.port, `${head}${auth}Content-Length: 5000000\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 413 /,
    );
    expect(await sendRaw(http.port, `${head}Content-Length: 20\r\n\r\n`)).toMatch(/^HTTP\/1.1 401 /);
    const { stdout } = await run("curl", [
      ...["-sS", "-u", "host:pä:ss", "-H", "Expect: 100-continue", "-H", "Content-Type: application/json"],
      ...["-d", "{}", `http://127.0.0.1:${http.port}${partners}`],
    ]);
    expect(stdout).toBe('{"status":"Success"}');
  });

  it("without credentials is refused without being received", async () => {
    const { user: _user, ...anonymous } = { user: "", type: "application/json", content: tooMuch };
    expect((await ask(http.port, "POST", partners, anonymous)).status).toBe(401);
  });
});

describe("a body that does not come", () => {
  it("in time is refused with 408 in the client's language", async () => {
    const slow = await startHttp({ requestTimeoutMs: 150 });
    const head = `Host: x\r\nAuthorization: ${basic("host")}\r\nContent-Length: 10\r\n`;
    const json = await sendRaw(
      slow.port,
      `POST ${partners} HTTP/1.1\r\nContent-Type: application/json\r\n${head}\r\n{`,
    );
    expect(json).toMatch(/^HTTP\/1.1 408 [\s\S]*"reasonCode":900/);
    const xml = await sendRaw(slow.port, `POST ${legacy} HTTP/1.1\r\nContent-Type: text/xml\r\n${head}\r\n<`);
    expect(xml).toMatch(/^HTTP\/1.1 408 [\s\S]*<StopResponse>/);
    await slow.close();
  });

  it("at all, because the client is gone, is logged and runs nothing", async () => {
    bodies = [];
    const head = `POST ${partners} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: ${basic("host")}\r\n`;
    const socket = connect(http.port, "127.0.0.1");
    socket.write(`${head}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n`);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.write('{"a":');
    socket.end();
    await expect.poll(() => http.log.at(-1)).toContain('"status":0');
    expect(bodies).toEqual([]);
  });
});

describe("the legacy web service", () => {
  it.each(["application/xml", "text/xml", "application/xml;", "text/xml; charset=ISO-8859-1"])(
    "takes %s, hands on the bytes as they are and answers XML",
    async (type) => {
      const bytes = Buffer.from([0xff, 0xfe, 0x3c, 0x00, 0xe4]);
      const reply = await postXml(bytes, { type });
      expect([reply.status, reply.body]).toEqual([200, '<StopResponse bytes="5"/>']);
      expect(reply.headers["content-type"]).toBe("application/xml");
    },
  );

  it.each([
    ["no credentials", 401, "930", { headers: { authorization: "x" } }],
    ["too many attempts", 429, "933", { user: "throttled" }],
    ["no role", 403, "932", { user: "viewer" }],
    ["another company", 401, "930", { path: "/api/stop/Beta" }],
    ["a wrong media type", 415, "942", { type: "application/json" }],
    ["a large body", 413, "909", { content: "x".repeat(200_000) }],
    ["a wrong method", 405, "941", { method: "PUT" }],
  ] as const)("refuses %s with %i and a StopResponse that says %s", async (_what, status, code, change) => {
    const { method = "POST", path = legacy, ...more } = { method: undefined, path: undefined, ...change };
    const reply = await ask(http.port, method, path, {
      user: "host",
      type: "text/xml",
      content: "<a/>",
      ...more,
    });
    expect([reply.status, reply.headers["content-type"]]).toEqual([status, "application/xml"]);
    expect(reply.body).toContain(`<StopResponse><Status>99</Status><Error ErrorMsgID="${code}">`);
  });

  it("answers what was processed and failed with 200, or with the status of its reason when mapped", async () => {
    const failed = { status: 99, xml: "<StopResponse/>", mappedCode: "stopInTransit" } as const;
    const scripts = [scripted(submitStopDocument, async () => failed)];
    for (const [legacyStatus, status] of [
      ["ok", 200],
      ["mapped", 409],
    ] as const) {
      const other = await startHttp({ legacyStatus }, { scripts });
      const reply = await ask(other.port, "POST", legacy, {
        user: "host",
        type: "text/xml",
        content: "<a/>",
      });
      expect([reply.status, reply.body]).toEqual([status, "<StopResponse/>"]);
      await other.close();
    }
  });

  it.each([
    ["a schema that does not fit", new StoreError("unfit", "no such column: routed", undefined)],
    ["a damaged database", new StoreError("damaged", "database disk image is malformed", undefined)],
    ["a disk that fails at a document", Object.assign(new Error("EIO: i/o error"), { code: "EIO" })],
  ])("answers %s with 503 and 999, over both ways in, and without its words", async (_, fault) => {
    const failing = () => Promise.reject(fault);
    const scripts = [scripted(submitStopDocument, failing), scripted(importStops, failing)];
    const other = await startHttp({}, { scripts });
    const xml = await ask(other.port, "POST", legacy, { user: "host", type: "text/xml", content: "<a/>" });
    expect([xml.status, xml.body.includes('ErrorMsgID="999"')]).toEqual([503, true]);
    const json = await ask(other.port, "POST", "/v5/stop/update/default/ACME", {
      user: "host",
      type: "application/json",
      content: '{"companyCode":"ACME","stops":[{"stopNbr":"1"}]}',
    });
    expect([json.status, json.body.includes('"reasonCode":999')]).toEqual([503, true]);
    expect(json.headers["retry-after"]).toBeDefined();
    expect(xml.body + json.body).not.toMatch(/routed|malformed|EIO/);
    await other.close();
  });

  it("answers a failure of our own with a StopResponse too", async () => {
    const failing = scripted(submitStopDocument, () => Promise.reject(new Error("disk")));
    const other = await startHttp({}, { scripts: [failing] });
    const reply = await ask(other.port, "POST", legacy, { user: "host", type: "text/xml", content: "<a/>" });
    expect([reply.status, reply.body.includes('ErrorMsgID="998"')]).toEqual([500, true]);
    await other.close();
  });

  it("that is large keeps nobody waiting: it is read elsewhere, that of an import by its operation", async () => {
    const done: string[] = [];
    const reading = Promise.withResolvers<void>();
    const large: number[] = [];
    const took = (bytes: number) => {
      large.push(bytes);
      return reading.promise;
    };
    const other = await startHttp(
      { maxBodyBytes: 1_000_000 },
      {
        scripts: [
          scripted(importCustomers, ({ body, large: bytes }) =>
            took(body === undefined ? (bytes?.length ?? 0) : 0),
          ),
          scripted(rejectStop, async ({ body }) => void done.push(JSON.stringify(body))),
        ],
        readers: { check: ({ bytes }) => took(bytes.length).then(() => bytes) },
      },
    );
    const content = JSON.stringify({ companyCode: "ACME", note: "x".repeat(300_000) });
    const post = async (path: string, name: string) => {
      const reply = await ask(other.port, "POST", path, { user: "host", type: "application/json", content });
      done.push(`${name} ${reply.status}`);
    };
    const posts = [post("/v6/customer/update/ACME", "import"), post("/v5/stop/cancel/ACME", "cancellation")];
    await waitToPass(() => expect(large).toEqual([content.length, content.length]));
    expect((await ask(other.port, "GET", "/healthz", {})).status).toBe(200);
    expect(done).toEqual([]);
    reading.resolve();
    await Promise.all(posts);
    expect(done.toSorted()).toEqual(["cancellation 200", "import 200", content].toSorted());
    await other.close();
  });
});
