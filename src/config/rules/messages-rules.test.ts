import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { formatConfigFaults } from "../reader/config-fault.ts";
import { loadConfig } from "../load-config.ts";
import { messageSettingsOf } from "../company-settings.ts";
import { reloadDifference } from "../reload.ts";
import type { Config } from "../schema.ts";

const folder = mkdtempSync(join(tmpdir(), "dropgate-messages-"));
afterAll(() => rmSync(folder, { recursive: true }));

const env = { DROPGATE_KEY: "geheim" };

async function load(messages: object) {
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, JSON.stringify({ companies: { ACME: { messages } } }));
  return await loadConfig({ path, env, cwd: folder });
}

async function faultsOf(messages: object): Promise<string> {
  const outcome = await load(messages);
  return outcome.kind === "faulty" ? formatConfigFaults(outcome.faults) : "";
}

async function loaded(messages: object): Promise<Config> {
  const outcome = await load(messages);
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.config;
}

const email = { host: "smtp.example.com", from: "orders@acme.example" };
const sms = { url: "https://sms.example.com/send?to={{to}}&text={{text}}", method: "GET" };
const text = "at {{eta.time}}";
const events = { 7007: { email: { subject: "S", text }, sms: { text } } };
const all = { email, sms, events };

describe("the messages of a company", () => {
  test("have defaults for all but servers and templates", async () => {
    const config = await loaded(all);
    expect(messageSettingsOf(config, "acme")).toMatchObject({
      ...{ zone: "UTC", locale: "en-GB", dropWhenOlderThanMinutes: 120, etaMovedMinutes: 15 },
      ...{ smsMaxCharacters: 459, events },
    });
    const { messages } = config.companies["ACME"] ?? {};
    expect(messages?.email).toMatchObject({ tls: "starttls", allowPlain: false, connections: 2 });
  });

  test("are none without the section, and for a company that is not there", async () => {
    const config = await loaded(all);
    expect(messageSettingsOf(config, "OTHER")).toBeUndefined();
    const path = join(folder, "none.yaml");
    writeFileSync(path, "companies: {ACME: {}}");
    const none = await loadConfig({ path, env, cwd: folder });
    expect(none.kind === "loaded" && messageSettingsOf(none.config, "ACME")).toBeUndefined();
  });

  test("can all be changed by a reload", async () => {
    const before = await loaded(all);
    const after = await loaded({ ...all, zone: "Europe/Berlin", email: { ...email, host: "other" } });
    const changes = reloadDifference(before, after);
    expect(changes.map(({ needsRestart }) => needsRestart)).toEqual([false, false]);
  });

  test("that are none are warned of", async () => {
    const outcome = await load({ email });
    expect(outcome.kind === "loaded" ? outcome.warnings.map(({ path }) => path) : []).toEqual([
      "companies.ACME.messages.events",
    ]);
  });
});

describe("refused is", () => {
  const templateAt = (place: object) => ({ ...all, events: { 7009: place } });

  test.each([
    ["an unknown placeholder", templateAt({ sms: { text: "{{eta.tme}}" } }), "there is no {{eta.tme}}"],
    [
      "an unknown placeholder of a subject",
      templateAt({ email: { subject: "{{x}}", text } }),
      "events.7009.email.subject: there is no {{x}}",
    ],
    [
      "an unknown placeholder of HTML",
      templateAt({ email: { subject: "S", text, html: "<p>{{x}}</p>" } }),
      "events.7009.email.html: there is no {{x}}",
    ],
    ["an open brace", templateAt({ sms: { text: "{{eta.time" } }), "that no }} closes"],
    ["a subject of two lines", templateAt({ email: { subject: "a\r\nBcc: b", text } }), "subject"],
    ["an unknown event", { ...all, events: { 7008: { sms: { text } } } }, "7008"],
    ["a message without its server", { sms, events }, "events.7007.email: cannot be sent"],
    ["a user without password", { ...all, email: { ...email, user: "u" } }, "has no effect without password"],
    ["plain SMTP to another machine", { ...all, email: { ...email, tls: "none" } }, "email.tls: none sends"],
    ["a sender with a name", { ...all, email: { ...email, from: "A <a@b.example>" } }, "email.from"],
    ["a zone that is none", { ...all, zone: "Europe/Berlino" }, "zone: `Europe/Berlino` is not"],
    ["a locale that is none", { ...all, locale: "x_y" }, "locale: `x_y` is not"],
    ["quiet hours all day", { ...all, quietHours: { from: "07:00", to: "07:00" } }, "quietHours.to"],
    ["a time that is none", { ...all, quietHours: { from: "24:00", to: "07:00" } }, "quietHours.from"],
    ["plain HTTP", { ...all, sms: { ...sms, url: sms.url.replace("s:", ":") } }, "sms.url: sends everything"],
    ["a request without the text", { ...all, sms: { url: "https://a.example/{{to}}" } }, "has no {{text}}"],
    ["an unknown value in the request", { ...all, sms: { ...sms, url: `${sms.url}{{x}}` } }, "no {{x}}"],
    ["a value in the host", { ...all, sms: { ...sms, url: "https://{{to}}/{{text}}" } }, "sms.url"],
    ["a body of GET", { ...all, sms: { ...sms, body: '"{{to}} {{text}}"' } }, "is not sent with GET"],
    [
      "a body that is no JSON",
      { ...all, sms: { url: "https://a.example/", body: '{"to": {{to}}, "text": "{{text}}"}' } },
      "is no JSON",
    ],
    ["a header of ours", { ...all, sms: { ...sms, headers: { Host: "x" } } }, "Host is set by dropgate"],
    [
      "a header twice",
      { ...all, sms: { ...sms, headers: { "X-Key": "a" }, secretHeaders: { "x-key": "env:DROPGATE_KEY" } } },
      "is set in headers too",
    ],
    ["a header of two lines", { ...all, sms: { ...sms, headers: { "X-A": "a\nb" } } }, "headers.X-A"],
    [
      "two ways to sign in",
      {
        ...all,
        sms: { ...sms, user: "u", password: "env:DROPGATE_KEY", bearerToken: "env:DROPGATE_KEY" },
      },
      "two ways to sign in",
    ],
    ["a secret that stands there", { ...all, email: { ...email, user: "u", password: "p" } }, "password"],
  ])("%s", async (_, messages, fault) => expect(await faultsOf(messages)).toContain(fault));

  test("with the line of the template", async () => {
    const path = join(folder, "lines.yaml");
    const head =
      "companies:\n  ACME:\n    messages:\n      sms: {url: 'https://a.example/{{to}}/{{text}}'}\n";
    writeFileSync(path, `${head}      events:\n        7007:\n          sms:\n            text: "{{eta}}"\n`);
    const outcome = await loadConfig({ path, env, cwd: folder });
    expect(outcome.kind === "faulty" && outcome.faults).toMatchObject([
      { line: 8, path: "companies.ACME.messages.events.7007.sms.text" },
    ]);
  });

  test("nothing of a relay on this machine without encryption", async () => {
    expect(await faultsOf({ ...all, email: { ...email, host: "127.0.0.1", tls: "none" } })).toBe("");
    expect(await faultsOf({ ...all, email: { ...email, tls: "none", allowPlain: true } })).toBe("");
  });
});
