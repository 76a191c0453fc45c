/** The HTTPS target against a server that answers by script, with certificates of an authority of our own. */
import { createHmac } from "node:crypto";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { DeliveryOutcome } from "../../src/outbound/target.ts";
import { createHttpsTarget, type HttpsTargetOptions } from "../../src/targets/web/https-target.ts";
import {
  type Authority,
  type Certificate,
  type IssueOptions,
  makeAuthority,
} from "../support/certificates.ts";
import { deliveryOf, faultOf, fileOf, messageOf, never } from "../support/deliveries.ts";
import { listenFree } from "../support/listen-free.ts";
import { type Answer, type Post, type Receiver, reply, startReceiver } from "../support/receiver.ts";
import { isInstalled } from "../support/run-program.ts";
import {
  describeNetworkFaults,
  describeTarget,
  type Network,
  type TargetSite,
  testTimes,
} from "../support/target-conformance.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

const signIn = { user: "dropgate", password: "kaz-21-lorry" };
const authorization = `Basic ${Buffer.from("dropgate:kaz-21-lorry").toString("base64")}`;

/** Refuses whoever does not sign in. */
const guarded: Answer = (response, request) => {
  const isKnown = request.headers.authorization === authorization;
  response.writeHead(isKnown ? 200 : 401).end(isKnown ? "" : "who are you?");
};

/** What a receiver has kept that takes each delivery once and only from those it knows. */
function filesIn(posts: readonly Post[]): ReadonlyMap<string, Buffer> {
  const byId = new Map<string, Post>();
  for (const post of posts) {
    if (post.headers.authorization === authorization)
      byId.set(String(post.headers["x-dropgate-delivery"]), post);
  }
  return new Map(
    [...byId.values()].map(({ headers, body }) => {
      const folder = headers["x-dropgate-directory"];
      const name = String(headers["x-dropgate-file"]);
      return [folder === undefined ? name : `${String(folder)}/${name}`, body];
    }),
  );
}

async function withReceiver(folder: string): Promise<TargetSite & { readonly network: Network }> {
  const authority = await makeAuthority(folder);
  const receiver = await startReceiver({ certificate: await authority.issue("server") });
  receiver.always(guarded);
  const targetAt = (port: number, more: Partial<HttpsTargetOptions> = {}) =>
    createHttpsTarget({
      url: `https://127.0.0.1:${port}/in`,
      ca: authority.ca,
      ...signIn,
      ...testTimes,
      ...more,
    });
  return {
    target: () => targetAt(receiver.port),
    wrongCredentials: () => targetAt(receiver.port, { password: "guess" }),
    files: async () => filesIn(receiver.posts),
    clear: async () => {
      receiver.posts.length = 0;
    },
    network: { port: receiver.port, targetAt, midwayBytes: 1_000_000, slowMs: 300 },
    end: () => receiver.end(),
  };
}

function temporary(): string {
  return mkdtempSync(join(tmpdir(), "dropgate-https-"));
}

async function openSite(): Promise<TargetSite & { readonly network: Network }> {
  const folder = temporary();
  const site = await withReceiver(folder);
  return {
    ...site,
    end: async () => {
      await site.end();
      rmSync(folder, { recursive: true });
    },
  };
}

describe.skipIf(!isInstalled("openssl"))("the HTTPS target", () => {
  describeTarget("https", openSite, { hasNames: false, hasCredentials: true });
  describeNetworkFaults("https", openSite);

  const folder = temporary();
  let authority: Authority;
  let receiver: Receiver;
  const open: Receiver[] = [];

  beforeAll(async () => {
    authority = await makeAuthority(folder);
    receiver = await startReceiver({ certificate: await authority.issue("server") });
  });
  afterEach(async () => {
    receiver.posts.length = 0;
    receiver.always();
    receiver.script();
    for (const one of open.splice(0)) await one.end();
  });
  afterAll(async () => {
    await receiver.end();
    rmSync(folder, { recursive: true });
  });

  async function another(options: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
    const made = await startReceiver(options);
    open.push(made);
    return made;
  }

  async function once(more: Partial<HttpsTargetOptions> = {}): Promise<DeliveryOutcome> {
    const target = createHttpsTarget({ url: receiver.url, ca: authority.ca, ...testTimes, ...more });
    try {
      return await target.deliver(deliveryOf([fileOf("a.xml", "<a/>")], { id: "c-17" }), never);
    } finally {
      await target.close();
    }
  }

  async function answered(...answers: Answer[]): Promise<DeliveryOutcome> {
    receiver.script(...answers);
    return await once();
  }

  test("posts the bytes with their type, length, id, name and company", async () => {
    expect(faultOf(await once({ bearerToken: "t0ken" }))).toBe("delivered");
    expect(receiver.posts).toHaveLength(1);
    expect(receiver.posts[0]).toMatchObject({ method: "POST", path: "/in?key=1" });
    expect(receiver.posts[0]?.body.toString()).toBe("<a/>");
    expect(receiver.posts[0]?.headers).toMatchObject({
      "content-type": "application/xml; charset=utf-8",
      "content-length": "4",
      authorization: "Bearer t0ken",
      "x-dropgate-delivery": "c-17",
      "x-dropgate-file": "a.xml",
      "x-dropgate-company": "ACME",
    });
    expect(receiver.posts[0]?.headers["x-dropgate-signature"]).toBeUndefined();
  });

  test("signs id, time and bytes; a repetition has the same id and bytes and a new time", async () => {
    let now = Date.UTC(2026, 10, 5, 12);
    const clock = { now: () => now };
    receiver.script(reply(500));
    expect(faultOf(await once({ signatureSecret: "hush", clock }))).toBe("busy");
    now += 30_000;
    expect(faultOf(await once({ signatureSecret: "hush", clock }))).toBe("delivered");
    const [first, second] = receiver.posts;
    for (const post of receiver.posts) {
      const time = String(post.headers["x-dropgate-timestamp"]);
      const mac = createHmac("sha256", "hush").update(`c-17.${time}.<a/>`).digest("hex");
      expect(post.headers["x-dropgate-signature"]).toBe(`sha256=${mac}`);
    }
    expect(second?.headers["x-dropgate-delivery"]).toBe(first?.headers["x-dropgate-delivery"]);
    expect(second?.body).toEqual(first?.body);
    expect([first, second].map((post) => post?.headers["x-dropgate-timestamp"])).toEqual([
      "1793880000",
      "1793880030",
    ]);
  });

  test("several files have ids of their own, which are the same at the next attempt", async () => {
    const target = createHttpsTarget({ url: receiver.url, ca: authority.ca });
    const delivery = deliveryOf([fileOf("all.xml", "1"), fileOf("manifest.xml", "2")], { id: "e-9" });
    await target.deliver(delivery, never);
    await target.deliver(delivery, never);
    await target.close();
    const ids = receiver.posts.map(({ headers }) => headers["x-dropgate-delivery"]);
    expect(ids).toEqual(["e-9-1", "e-9-2", "e-9-1", "e-9-2"]);
  });

  test.each([200, 201, 202, 204])("%i is delivered", async (status) => {
    expect(await answered(reply(status))).toEqual({ kind: "delivered" });
  });

  test.each([
    [400, "refused", true, "delivery"],
    [404, "refused", true, "delivery"],
    [409, "refused", true, "delivery"],
    [413, "refused", true, "delivery"],
    [422, "refused", true, "delivery"],
    [401, "credentials", true, "target"],
    [403, "credentials", true, "target"],
    [408, "busy", false, "delivery"],
    [425, "busy", false, "delivery"],
    [429, "busy", false, "target"],
    [500, "busy", false, "delivery"],
    [502, "busy", false, "target"],
    [503, "busy", false, "target"],
    [504, "busy", false, "target"],
    [301, "refused", true, "target"],
    [302, "refused", true, "target"],
    [307, "refused", true, "target"],
    [304, "refused", true, "target"],
  ])("%i is %s (permanent: %s, trouble of the %s)", async (status, fault, isPermanent, scope) => {
    const outcome = await answered(reply(status, {}, "because\r\n\tof  this"));
    expect(outcome).toMatchObject({ fault, isPermanent, scope });
    expect(messageOf(outcome)).toContain(`answered ${status}`);
    if (status !== 304) expect(messageOf(outcome)).toContain("because of this");
    expect(receiver.posts).toHaveLength(1);
  });

  test("503 with Retry-After says when: in seconds or as a date", async () => {
    const clock = { now: () => Date.UTC(2026, 10, 5, 12) };
    receiver.script(
      reply(503, { "retry-after": "120" }),
      reply(429, { "retry-after": "Thu, 05 Nov 2026 12:01:00 GMT" }),
    );
    expect(await once({ clock })).toMatchObject({ fault: "busy", retryAfterMs: 120_000 });
    expect(await once({ clock })).toMatchObject({ fault: "busy", retryAfterMs: 60_000 });
    expect(await answered(reply(503, { "retry-after": "soon" }))).not.toHaveProperty("retryAfterMs");
  });

  test("a redirect is not followed, and names where it leads", async () => {
    const elsewhere = await another({ certificate: await authority.issue("elsewhere") });
    const outcome = await answered(reply(308, { location: elsewhere.url }));
    expect(messageOf(outcome)).toContain(elsewhere.url);
    expect(elsewhere.connections()).toBe(0);
  });

  test("of an answer at most 300 characters are shown, and no secret of ours", async () => {
    const outcome = await (async () => {
      receiver.script(reply(400, {}, `you said kaz-21-lorry and ${authorization}: ${"x".repeat(20_000)}`));
      return await once(signIn);
    })();
    expect(messageOf(outcome)).toContain("you said *** and Basic ***: xxx");
    expect(messageOf(outcome).length).toBeLessThan(450);
    expect(messageOf(outcome)).not.toContain("key=1");
  });

  test("an endless answer is cut, and counts by its status", async () => {
    const endless =
      (status: number): Answer =>
      (response) => {
        response.writeHead(status);
        const more = () => {
          while (response.write("x".repeat(10_000)));
        };
        response.on("drain", more);
        more();
      };
    expect(faultOf(await answered(endless(200)))).toBe("delivered");
    expect(faultOf(await answered(endless(400)))).toBe("refused");
  });

  test("an answer whose body never ends counts by its status after some seconds", async () => {
    const begun: Answer = (response) => void response.writeHead(200).write("o");
    expect(faultOf(await answered(begun))).toBe("delivered");
  });

  test("silence after the request is a time-out", async () => {
    receiver.script(() => undefined);
    expect(await once({ silenceMs: 1_000 })).toMatchObject({
      fault: "timeout",
      isPermanent: false,
      scope: "target",
    });
  });

  test("an answer that keeps the line alive and never comes ends at the total deadline", async () => {
    const trickling: Answer = (response) => {
      const timer = setInterval(() => response.writeProcessing(), 100);
      response.on("close", () => clearInterval(timer));
    };
    receiver.script(trickling);
    const outcome = await once({ timeoutMs: 1_500 });
    expect(outcome).toMatchObject({ fault: "timeout" });
    expect(messageOf(outcome)).toContain("1500 ms");
  });

  test("what is no HTTP is a fault of the protocol", async () => {
    const chatter = createServer((socket) => void socket.on("error", () => undefined).end("220 ready\r\n"));
    const port = await listenFree(chatter);
    const target = createHttpsTarget({ url: `http://127.0.0.1:${port}/`, allowPlain: true });
    const outcome = await target.deliver(deliveryOf([fileOf("a.xml", "a")]), never);
    expect(faultOf(await once({ url: `https://127.0.0.1:${port}/` }))).toBe("protocol");
    chatter.close();
    expect(outcome).toMatchObject({ fault: "protocol", isPermanent: false, scope: "target" });
  });

  const certificates: readonly (readonly [string, IssueOptions, string])[] = [
    ["expired", { days: -1 }, "has expired"],
    ["self-signed", { isSelfSigned: true }, "signed by itself"],
    ["wrong-name", { names: "DNS:elsewhere.example" }, "another name"],
  ];
  test.each(certificates)("a certificate that is %s: nothing is sent", async (name, options, words) => {
    const stranger = await another({ certificate: await authority.issue(name, options) });
    const outcome = await once({ url: stranger.url });
    expect(outcome).toMatchObject({ fault: "identity", isPermanent: false, scope: "target" });
    expect(messageOf(outcome)).toContain(words);
    expect(stranger.posts).toEqual([]);
  });

  test("a certificate of an authority that is not trusted: nothing is sent, whatever the environment says", async () => {
    mkdirSync(join(folder, "others"));
    const other = await makeAuthority(join(folder, "others"));
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    onTestFinished(() => void delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]);
    expect(faultOf(await once({ ca: other.ca }))).toBe("identity");
    expect(receiver.posts).toEqual([]);
  });

  test("the name of the certificate can be said", async () => {
    const named = await another({
      certificate: await authority.issue("named", { names: "DNS:host.example" }),
    });
    expect(faultOf(await once({ url: named.url, serverName: "host.example" }))).toBe("delivered");
  });

  test("a client certificate opens servers that ask for one; without it, it is a matter of credentials", async () => {
    const client: Certificate = await authority.issue("client");
    const strict = await another({ certificate: await authority.issue("strict"), clientCa: authority.ca });
    const mine = { certificate: client.certificate, privateKey: client.key };
    expect(faultOf(await once({ url: strict.url, ...mine }))).toBe("delivered");
    expect(await once({ url: strict.url })).toMatchObject({
      fault: "credentials",
      isPermanent: true,
      scope: "target",
    });
    expect(await once({ certificate: "rubbish", privateKey: "rubbish" })).toMatchObject({
      fault: "configuration",
    });
  });

  test("http is refused unless it is allowed, and so are addresses with a user in them", async () => {
    const plain = await another({});
    expect(await once({ url: plain.url })).toMatchObject({ fault: "configuration", scope: "target" });
    expect(plain.connections()).toBe(0);
    expect(faultOf(await once({ url: plain.url, allowPlain: true }))).toBe("delivered");
    for (const url of ["no address", "ftp://127.0.0.1/", "https://user:secret@127.0.0.1/"]) {
      const outcome = await once({ url });
      expect(faultOf(outcome)).toBe("configuration");
      expect(messageOf(outcome)).not.toContain("secret");
    }
  });

  test("connections are kept, and there are no more at a time than is said", async () => {
    const fresh = await another({ certificate: await authority.issue("fresh") });
    const target = createHttpsTarget({ url: fresh.url, ca: authority.ca, connections: 2 });
    const one = (index: number) => target.deliver(deliveryOf([fileOf(`f${index}.xml`, "x")]), never);
    for (let index = 0; index < 3; index += 1) await one(index);
    expect(fresh.connections()).toBe(1);
    await Promise.all([3, 4, 5, 6, 7, 8].map(one));
    await target.close();
    expect(fresh.mostAtOnce()).toBe(2);
    expect(fresh.posts).toHaveLength(9);
  });

  test("a probe posts nothing, and takes 404 and 405 for an answer", async () => {
    const target = createHttpsTarget({ url: receiver.url, ca: authority.ca });
    receiver.script(reply(200), reply(404), reply(405), reply(503), reply(302), reply(403));
    const faults = [];
    for (let index = 0; index < 6; index += 1) faults.push(faultOf(await target.probe(never)));
    await target.close();
    expect(faults).toEqual(["delivered", "delivered", "delivered", "busy", "refused", "credentials"]);
    expect(receiver.posts).toEqual([]);
  });
});
