/** Text messages to a web service by a request of the configuration (docs/messages.md). */
import { describe, expect, onTestFinished, test } from "vitest";
import type { DeliveryOutcome, Target } from "../../src/outbound/target.ts";
import { createSmsTarget, type SmsTargetOptions } from "../../src/targets/web/sms-target.ts";
import { faultOf, messageOf, never } from "../support/deliveries.ts";
import { type Receiver, reply, startReceiver } from "../support/receiver.ts";

const json = '{"to": "{{to}}", "text": "{{text}}", "id": "{{id}}"}';

async function serve(): Promise<Receiver> {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.end());
  return receiver;
}

function targetTo(url: string, options: Partial<SmsTargetOptions> = {}): Target {
  const target = createSmsTarget({
    ...{ url, method: "POST", format: "json", headers: {}, secretHeaders: {}, allowPlain: true },
    ...options,
  });
  onTestFinished(() => target.close());
  return target;
}

function send(target: Target, text = "We come.", to = "+491701234567"): Promise<DeliveryOutcome> {
  const message = { channel: "sms", to, text, subject: "", date: 0 } as const;
  return target.deliver({ id: "d-1", companyCode: "ACME", files: [], message }, never);
}

const evil = '", "to": "+1666"}\r\nHost: x\r\n\r\n&to=+1666#{{to}}';

describe("a text message", () => {
  test("is posted as JSON, whatever stands in it", async () => {
    const receiver = await serve();
    const headers = { "X-Sender": "ACME", "X-Reference": "m-{{id}}" };
    const secretHeaders = { "X-Api-Key": "geheim {{id}}" };
    const target = targetTo(receiver.url, { body: json, headers, secretHeaders, bearerToken: "token" });
    expect(await send(target, evil)).toEqual({ kind: "delivered" });
    const [post] = receiver.posts;
    expect(JSON.parse(post?.body.toString() ?? "")).toEqual({ to: "+491701234567", text: evil, id: "d-1" });
    expect(post?.headers).toMatchObject({
      ...{ "content-type": "application/json; charset=utf-8", authorization: "Bearer token" },
      ...{ "x-sender": "ACME", "x-reference": "m-d-1", "x-api-key": "geheim {{id}}" },
      ...{ "idempotency-key": "d-1", "x-dropgate-delivery": "d-1" },
    });
  });

  test("is posted as a form", async () => {
    const receiver = await serve();
    const target = targetTo(receiver.url, { format: "form", body: "to={{to}}&text={{text}}" });
    await send(target, evil);
    const [post] = receiver.posts;
    expect(post?.headers["content-type"]).toContain("application/x-www-form-urlencoded");
    const form = new URLSearchParams(post?.body.toString());
    expect([...form]).toEqual([
      ["to", "+491701234567"],
      ["text", evil],
    ]);
  });

  test("is sent in the address", async () => {
    const receiver = await serve();
    let asked = "";
    receiver.always((response, request) => {
      asked = `${request.method} ${request.url} ${request.headers["content-type"]}`;
      response.end();
    });
    const base = receiver.url.split("?")[0] ?? "";
    const target = targetTo(`${base}/{{id}}?to={{to}}&text={{text}}`, { method: "GET" });
    expect(await send(target, evil)).toEqual({ kind: "delivered" });
    const [, address = ""] = asked.split(" ");
    const url = new URL(address, "http://x");
    expect(asked).toMatch(/^GET \/in\/d-1\?.* undefined$/);
    expect([url.searchParams.getAll("to"), url.searchParams.get("text")]).toEqual([["+491701234567"], evil]);
  });
});

describe("an answer of", () => {
  test.each([
    [204, "delivered", true],
    [400, "refused", true],
    [401, "credentials", true],
    [302, "refused", true],
    [429, "busy", false],
    [500, "busy", false],
    [503, "busy", false],
  ] as const)("%i is %s", async (status, fault, isPermanent) => {
    const receiver = await serve();
    receiver.always(reply(status, { location: "/x" }));
    const outcome = await send(targetTo(receiver.url, { body: json }));
    expect(faultOf(outcome)).toBe(fault);
    if (outcome.kind === "failed") expect(outcome.isPermanent).toBe(isPermanent);
  });

  test("any kind tells neither number, text nor secrets", async () => {
    const receiver = await serve();
    receiver.always((response, request, body) => {
      const key = String(request.headers["x-api-key"]);
      response.writeHead(400).end(`${key} ${JSON.parse(body.toString()).to} We come. ${request.url}`);
    });
    const target = targetTo(`${receiver.url}&n={{to}}`, {
      body: json,
      secretHeaders: { "X-Api-Key": "geheim" },
    });
    const said = messageOf(await send(target));
    expect(said).toContain("400");
    for (const secret of ["geheim", "1701234567", "We come."]) expect(said).not.toContain(secret);
  });

  test("nobody, and silence, are faults of the whole target", async () => {
    const receiver = await serve();
    receiver.always(() => undefined);
    const late = await send(targetTo(receiver.url, { body: json, timeoutMs: 300 }));
    expect(late).toMatchObject({ fault: "timeout", isPermanent: false, scope: "target" });
    await receiver.end();
    const none = await send(targetTo(receiver.url, { body: json }));
    expect(none).toMatchObject({ fault: "unreachable", isPermanent: false, scope: "target" });
  });
});

test("a probe sends no message", async () => {
  const receiver = await serve();
  const target = targetTo(`${receiver.url}&to={{to}}`, { body: json });
  expect(await target.probe(never)).toEqual({ kind: "delivered" });
  expect(receiver.posts).toEqual([]);
  await receiver.end();
  expect(faultOf(await target.probe(never))).toBe("unreachable");
});

test("an e-mail is not sent there", async () => {
  const receiver = await serve();
  const message = { channel: "email", to: "a@b.example", text: "x", subject: "", date: 0 } as const;
  const delivery = { id: "d", companyCode: "ACME", files: [], message };
  expect(faultOf(await targetTo(receiver.url).deliver(delivery, never))).toBe("content");
  expect(receiver.posts).toEqual([]);
});
