/** E-mails to a real SMTP server on loopback: what arrives, and what each fault of the server means (docs/messages.md). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { CustomerMessage, DeliveryOutcome, Target } from "../../src/outbound/target.ts";
import { EmailTarget } from "../../src/targets/email/email-target.ts";
import type { EmailTargetOptions } from "../../src/targets/email/email-worker.ts";
import { type Authority, makeAuthority } from "../support/certificates.ts";
import { faultOf, messageOf, never } from "../support/deliveries.ts";
import {
  headerOf,
  type SmtpServer,
  type SmtpServerOptions,
  startSmtpServer,
} from "../support/smtp-server.ts";

const message: CustomerMessage = {
  channel: "email",
  to: "ann@customer.example",
  toName: "Ann Hill",
  subject: "Your delivery",
  text: "We come at 14:30.",
  date: Date.UTC(2026, 10, 5, 8),
};

const folder = mkdtempSync(join(tmpdir(), "dropgate-email-"));
let authority: Authority;

beforeAll(async () => {
  authority = await makeAuthority(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function serve(options: SmtpServerOptions = {}): Promise<SmtpServer> {
  const server = await startSmtpServer(options);
  onTestFinished(() => server.end());
  return server;
}

function targetTo(port: number, options: Partial<EmailTargetOptions> = {}): Target {
  const from = "orders@acme.example";
  const target = new EmailTarget({ host: "127.0.0.1", port, tls: "none", from, ...options });
  onTestFinished(() => target.close());
  return target;
}

function send(target: Target, rest: Partial<CustomerMessage> = {}, id = "d-1"): Promise<DeliveryOutcome> {
  return target.deliver({ id, companyCode: "ACME", files: [], message: { ...message, ...rest } }, never);
}

const codeOf = (outcome: DeliveryOutcome) =>
  outcome.kind === "failed" ? [outcome.fault, outcome.isPermanent, outcome.scope] : [outcome.kind];

describe("an e-mail", () => {
  test("arrives with its parts, and with an id that is that of its delivery", async () => {
    const server = await serve();
    const target = targetTo(server.port, { fromName: "ACME deliveries", replyTo: "service@acme.example" });
    expect(await send(target, { html: "<p>We come at <b>14:30</b>.</p>" })).toEqual({ kind: "delivered" });
    const [mail] = server.mails;
    if (mail === undefined) throw new Error("nothing has come");
    expect(mail).toMatchObject({ from: "orders@acme.example", to: ["ann@customer.example"] });
    expect(headerOf(mail, "Message-ID")).toBe("<d-1@acme.example>");
    expect(headerOf(mail, "From")).toBe("ACME deliveries <orders@acme.example>");
    expect(headerOf(mail, "To")).toBe("Ann Hill <ann@customer.example>");
    expect(headerOf(mail, "Reply-To")).toBe("service@acme.example");
    expect(headerOf(mail, "Subject")).toBe("Your delivery");
    expect(headerOf(mail, "Date")).toBe("Thu, 05 Nov 2026 08:00:00 +0000");
    expect(headerOf(mail, "Auto-Submitted")).toBe("auto-generated");
    expect(mail.source).toContain("We come at 14:30.");
    expect(mail.source).toContain("<b>14:30</b>");
  });

  test("has one recipient and no more header fields, whatever stands in names and subject", async () => {
    const server = await serve();
    const evil = 'Ann", <eve@evil.example>\r\nBcc: eve@evil.example\r\n\r\nbody';
    await send(targetTo(server.port), {
      toName: evil,
      subject: evil,
      text: "a\r\n.\r\nRCPT TO:<eve@evil.example>",
    });
    const [mail] = server.mails;
    expect(server.mails).toHaveLength(1);
    expect(mail?.to).toEqual(["ann@customer.example"]);
    expect(mail?.source).not.toMatch(/^bcc:/im);
    expect(server.commands.filter((command) => command === "RCPT TO")).toHaveLength(1);
  });

  test("names of other alphabets arrive encoded", async () => {
    const server = await serve();
    await send(targetTo(server.port), { toName: "Jürgen Müller", subject: "Lieferung für Köln 🚚" });
    const [mail] = server.mails;
    if (mail === undefined) throw new Error("nothing has come");
    expect(headerOf(mail, "Subject")).toMatch(/^=\?UTF-8\?/i);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
    expect(mail.source).toMatch(/^[\x00-\x7f]*$/);
  });

  test("shares a connection with the one before it", async () => {
    const server = await serve();
    const target = targetTo(server.port, { connections: 1 });
    for (const id of ["a", "b", "c"]) expect(await send(target, {}, id)).toEqual({ kind: "delivered" });
    expect(server.connections()).toBe(1);
    expect(server.mails).toHaveLength(3);
  });

  test("is not sent to a target of another kind", async () => {
    const server = await serve();
    expect(codeOf(await send(targetTo(server.port), { channel: "sms" }))).toEqual([
      "content",
      true,
      "delivery",
    ]);
    expect(server.connections()).toBe(0);
  });
});

describe("encryption and sign-in", () => {
  test("STARTTLS comes before the password and the message", async () => {
    const certificate = await authority.issue("mail");
    const account = { user: "dropgate", password: "s3cret" };
    const server = await serve({ certificate, account });
    const target = targetTo(server.port, { tls: "starttls", ca: authority.ca, ...account });
    expect(await target.probe(never)).toEqual({ kind: "delivered" });
    expect(server.mails).toEqual([]);
    expect(await send(target)).toEqual({ kind: "delivered" });
    expect(server.mails[0]).toMatchObject({ isEncrypted: true, user: "dropgate" });
    expect(server.commands.indexOf("STARTTLS")).toBeLessThan(server.commands.indexOf("AUTH"));
  });

  test("a server without STARTTLS is given nothing", async () => {
    const server = await serve({ account: { user: "dropgate", password: "s3cret" } });
    const target = targetTo(server.port, { tls: "starttls", user: "dropgate", password: "s3cret" });
    const outcome = await send(target);
    expect(codeOf(outcome)).toEqual(["protocol", false, "target"]);
    expect(messageOf(outcome)).toContain("STARTTLS");
    expect(server.commands).not.toContain("AUTH");
    expect(server.commands).not.toContain("MAIL FROM");
  });

  test("one that offers STARTTLS and then refuses it is given nothing", async () => {
    const certificate = await authority.issue("refusing");
    const server = await serve({ certificate });
    server.script((command) => (command === "STARTTLS" ? "454 not now" : undefined));
    const outcome = await send(targetTo(server.port, { tls: "starttls", ca: authority.ca }));
    expect(outcome.kind).toBe("failed");
    expect(server.commands).not.toContain("MAIL FROM");
  });

  test("TLS from the first byte", async () => {
    const certificate = await authority.issue("implicit");
    const server = await serve({ certificate, isImplicit: true });
    expect(await send(targetTo(server.port, { tls: "implicit", ca: authority.ca }))).toEqual({
      kind: "delivered",
    });
    expect(server.mails[0]?.isEncrypted).toBe(true);
  });

  test.each([
    ["starttls", { isSelfSigned: true }],
    ["starttls", { days: -1 }],
    ["starttls", { names: "DNS:other.example" }],
    ["implicit", { isSelfSigned: true }],
    ["implicit", { names: "DNS:other.example" }],
  ] as const)("with %s a certificate %o is refused before anything is said", async (kind, issue) => {
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    onTestFinished(() => void delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]);
    const certificate = await authority.issue(`wrong-${kind}-${Object.keys(issue)[0]}`, issue);
    const server = await serve({ certificate, isImplicit: kind === "implicit" });
    const outcome = await send(targetTo(server.port, { tls: kind, ca: authority.ca }));
    expect([messageOf(outcome), ...codeOf(outcome)]).toEqual([
      expect.stringContaining("certificate"),
      ...["identity", false, "target"],
    ]);
    expect(server.commands).not.toContain("MAIL FROM");
  });

  test("a wrong password is permanent, of the whole target, and in no message", async () => {
    const server = await serve({ account: { user: "dropgate", password: "right" } });
    server.script((command, line) => (command === "AUTH" ? `535 5.7.8 no: ${line} wr0ng` : undefined));
    const target = targetTo(server.port, { user: "dropgate", password: "wr0ng" });
    for (const outcome of [await send(target), await target.probe(never)]) {
      expect(codeOf(outcome)).toEqual(["credentials", true, "target"]);
      expect(messageOf(outcome)).not.toContain("wr0ng");
      expect(messageOf(outcome)).not.toContain(Buffer.from("\0dropgate\0wr0ng").toString("base64"));
    }
  });
});

describe("what the server answers", () => {
  test.each([
    ["greeting", "554 no service", ["protocol", false, "target"]],
    ["greeting", "421 too many", ["busy", false, "target"]],
    ["AUTH", "454 later", ["busy", false, "target"]],
    ["MAIL FROM", "451 later", ["busy", false, "delivery"]],
    ["MAIL FROM", "421 closing", ["busy", false, "target"]],
    ["MAIL FROM", "550 not you", ["notAllowed", true, "target"]],
    ["RCPT TO", "450 grey", ["busy", false, "delivery"]],
    ["RCPT TO", "550 5.1.1 nobody of that name", ["refused", true, "delivery"]],
    ["DATA", "451 later", ["busy", false, "delivery"]],
    ["DATA", "554 no", ["refused", true, "delivery"]],
    ["taken", "452 full", ["busy", false, "delivery"]],
    ["taken", "554 5.7.1 looks like spam", ["refused", true, "delivery"]],
  ] as const)("at %s, %s", async (command, answer, expected) => {
    const account = command === "AUTH" ? { user: "u", password: "p" } : undefined;
    const server = await serve(account === undefined ? {} : { account });
    server.script((asked) => (asked === command ? answer : undefined));
    const outcome = await send(targetTo(server.port, account));
    expect([messageOf(outcome), ...codeOf(outcome)]).toEqual([
      expect.stringContaining(answer.split(" ").slice(1).join(" ")),
      ...expected,
    ]);
    expect(server.mails).toEqual([]);
  });

  test("is told without the customer's address", async () => {
    const server = await serve();
    server.script((command, line) => (command === "RCPT TO" ? `550 no: ${line}` : undefined));
    const said = messageOf(await send(targetTo(server.port)));
    expect(said).toContain("550 no: RCPT TO:<***>");
    expect(said).not.toContain("ann@");
  });

  test("one message that is refused does not hold up the next", async () => {
    const server = await serve();
    const target = targetTo(server.port, { connections: 1 });
    server.script((command) => (command === "RCPT TO" ? "550 no" : undefined));
    expect(faultOf(await send(target))).toBe("refused");
    server.script(() => undefined);
    expect(await send(target, {}, "d-2")).toEqual({ kind: "delivered" });
  });

  test.each(["greeting", "EHLO", "MAIL FROM", "DATA", "end"])(
    "a cut at %s is tried again, with the same Message-ID",
    async (command) => {
      const server = await serve();
      server.script((asked) => (asked === command ? "cut" : undefined));
      const target = targetTo(server.port);
      const outcome = await send(target);
      expect(codeOf(outcome)).toEqual(["connectionLost", false, "target"]);
      const taken = command === "end" ? 1 : 0;
      expect(server.mails).toHaveLength(taken);
      server.script(() => undefined);
      expect(await send(target)).toEqual({ kind: "delivered" });
      expect(server.mails.map((mail) => headerOf(mail, "Message-ID"))).toEqual(
        Array.from({ length: taken + 1 }, () => "<d-1@acme.example>"),
      );
    },
  );

  test.each(["greeting", "EHLO", "MAIL FROM", "DATA", "end"])(
    "silence at %s ends with the time of the attempt",
    async (command) => {
      const server = await serve();
      server.script((asked) => (asked === command ? "hang" : undefined));
      const begun = performance.now();
      const outcome = await send(targetTo(server.port, { timeoutMs: 700 }));
      expect([messageOf(outcome), ...codeOf(outcome)]).toEqual([
        expect.any(String),
        "timeout",
        false,
        "target",
      ]);
      expect(performance.now() - begun).toBeLessThan(25_000);
    },
  );

  test("an endless answer ends with the time of the attempt at the latest", async () => {
    const server = await serve();
    server.script((command) => (command === "EHLO" ? `250-${"more\r\n250-".repeat(2_000_000)}` : undefined));
    const outcome = await send(targetTo(server.port, { timeoutMs: 1_000 }));
    expect(outcome.kind).toBe("failed");
  });

  test("nobody listens", async () => {
    const server = await serve();
    await server.end();
    expect(codeOf(await send(targetTo(server.port)))).toEqual(["unreachable", false, "target"]);
  });

  test("what is aborted rejects with its reason, and the next message goes on", async () => {
    const server = await serve();
    server.script((command) => (command === "DATA" ? "hang" : undefined));
    const target = targetTo(server.port);
    const controller = new AbortController();
    const delivery = { id: "d", companyCode: "ACME", files: [], message };
    const sending = target.deliver(delivery, controller.signal);
    controller.abort(new Error("stopping"));
    await expect(sending).rejects.toThrow("stopping");
    server.script(() => undefined);
    expect(await send(target)).toEqual({ kind: "delivered" });
  });

  test("a target that was closed opens again", async () => {
    const server = await serve();
    const target = targetTo(server.port);
    await send(target);
    await target.close();
    await target.close();
    expect(await send(target)).toEqual({ kind: "delivered" });
  });
});
