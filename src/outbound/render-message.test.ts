import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { DeliverySite, start } from "../../test/support/delivery-site.ts";
import { etaMovedCode } from "../domain/messages/message-event.ts";
import type { EventMessages, MessageSettings } from "../domain/messages/message-settings.ts";
import { recordedEvents } from "../domain/outbound/recorded-events.ts";
import { addOptOut } from "../store/outbound/message-opt-outs.ts";
import { insertMessage, type StoredMessage } from "../store/outbound/messages.ts";
import { createMessageRenderer } from "./render-message.ts";
import { minuteMs } from "../lib/durations.ts";

const arrival = recordedEvents.stopArrival.code;
const facts = { stopNbr: "S1", zone: "UTC", contact: { contactName: " Ann\nHill " } };
const email = { subject: "Stop {{stop.stopNbr}}", text: "for {{stop.contact.contactName}}" };
const sms = { text: " {{stop.stopNbr}} is there " };

function settingsOf(messages: EventMessages, more: Partial<MessageSettings> = {}): MessageSettings {
  return {
    ...{ zone: "UTC", locale: "en", dropWhenOlderThanMinutes: 60, etaMovedMinutes: 15, smsMaxCharacters: 20 },
    ...{ events: { "7007": messages, etaMoved: messages }, ...more },
  };
}

const both = settingsOf({ email, sms });

class Renderer {
  readonly site: DeliverySite;
  settings: MessageSettings | undefined = both;

  private constructor(site: DeliverySite) {
    this.site = site;
  }

  static async open(settings?: MessageSettings): Promise<Renderer> {
    const renderer = new Renderer(await DeliverySite.open());
    renderer.settings = settings ?? both;
    return renderer;
  }

  async make(more: Partial<StoredMessage> | null = {}) {
    const { store, companyId } = this.site;
    const message: StoredMessage = {
      ...{ id: 1, companyId, eventCode: arrival, channel: "email", address: "ann@customer.example" },
      ...{ facts, createdAt: start, ...more },
    };
    const settings = (code: string) => (code === "ACME" ? this.settings : undefined);
    const render = createMessageRenderer({ store, clock: { now: () => this.site.now }, settings });
    return await render({
      ...{ id: 7, guid: "d7", companyId, companyCode: "ACME", targetId: 1, kind: "message", subjectId: 1 },
      ...{ orderKey: "S1", name: "m", dueAt: start, attempts: 0, firstAttemptAt: null, createdAt: 0 },
      ...(more === null ? {} : { message }),
    });
  }

  async messageOf(more: Partial<StoredMessage> = {}) {
    const made = await this.make(more);
    return "kind" in made ? made : made.delivery.message;
  }

  /** The kind and fault of what is withheld. */
  async whyNot(more: Partial<StoredMessage> = {}): Promise<string> {
    const made = await this.make(more);
    if (!("kind" in made)) return "sent";
    return made.kind === "dropped" ? made.fault : `${made.kind} ${(made.dueAt - start) / minuteMs}`;
  }
}

describe("a message", () => {
  test("by e-mail has the subject and text of its template, to the address and the name of the contact", async () => {
    const renderer = await Renderer.open();
    expect(await renderer.messageOf()).toEqual({
      ...{ channel: "email", to: "ann@customer.example", toName: "Ann Hill" },
      ...{ subject: "Stop S1", text: "for Ann Hill", date: start },
    });
  });

  test("as text has no subject, no blanks around it, and at most as many characters as are set", async () => {
    const renderer = await Renderer.open();
    const phone = {
      channel: "sms",
      address: "+49 170 1234567",
      facts: { stopNbr: "S1", zone: "UTC" },
    } as const;
    expect(await renderer.messageOf(phone)).toEqual({
      ...{ channel: "sms", to: "+491701234567", subject: "", text: "S1 is there", date: start },
    });
    const long = { ...phone, facts: { stopNbr: "S".repeat(30), zone: "UTC" } };
    expect(await renderer.messageOf(long)).toMatchObject({ text: `${"S".repeat(19)}…` });
  });

  test("has values that are escaped in its HTML alone, a subject of 200 characters and a name of 100", async () => {
    const html = "<p>{{stop.contact.contactName}}</p>";
    const subject = "{{stop.contact.contactName}}";
    const renderer = await Renderer.open(settingsOf({ email: { subject, text: subject, html } }));
    const named = (contactName: string) => ({ facts: { ...facts, contact: { contactName } } });
    expect(await renderer.messageOf(named("<Ann>"))).toMatchObject({
      ...{ subject: "<Ann>", text: "<Ann>", html: "<p>&lt;Ann&gt;</p>", toName: "<Ann>" },
    });
    expect(await renderer.messageOf(named("x".repeat(300)))).toMatchObject({
      ...{ subject: `${"x".repeat(199)}…`, toName: `${"x".repeat(99)}…`, text: "x".repeat(300) },
    });
  });

  test("is one delivery without files, told by the hash and size of what it says", async () => {
    const renderer = await Renderer.open();
    const made = await renderer.make();
    if ("kind" in made) throw new Error(made.kind);
    expect(made.delivery).toMatchObject({ id: "d7", companyCode: "ACME", files: [] });
    const bytes = Buffer.from(JSON.stringify(made.delivery.message));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(made).toMatchObject({ sha256, size: bytes.length });
  });

  test("that is not in the database cannot be made", async () => {
    const renderer = await Renderer.open();
    await expect(renderer.make(null)).rejects.toThrow("message 1 is not in the database");
  });
});

describe("a message is not sent", () => {
  test.each([
    ["the company has no messages any more", undefined],
    ["its event has none", { ...both, events: { "7009": { email } } }],
    ["its channel has none", settingsOf({ sms })],
  ])("when %s", async (_, settings) => {
    const renderer = await Renderer.open();
    renderer.settings = settings;
    expect(await renderer.whyNot()).toBe("notConfigured");
  });

  test("of an event that causes none, to an address that is none, and without a text", async () => {
    const renderer = await Renderer.open(settingsOf({ email: { subject: "s", text: " {{load.loadNbr}} " } }));
    expect(await renderer.whyNot({ eventCode: 1 })).toBe("notConfigured");
    expect(await renderer.whyNot({ address: "ann" })).toBe("invalidAddress");
    expect(await renderer.whyNot()).toBe("empty");
  });

  test("to an address that is none, and no log shows the whole of it", async () => {
    const renderer = await Renderer.open();
    expect(await renderer.make({ address: "ann @customer.example" })).toMatchObject({
      message: "a…@customer.example is no email address that can be sent to",
    });
  });

  test("to who wants none", async () => {
    const renderer = await Renderer.open();
    const { store, companyId } = renderer.site;
    const address = "ann@customer.example";
    expect(await renderer.whyNot()).toBe("sent");
    await store.write(companyId, (tx) => addOptOut(tx, { companyId, address, now: start }));
    expect(await renderer.make()).toMatchObject({
      fault: "optedOut",
      message: "the address is on the company's list of those that want no messages",
    });
    expect(await renderer.whyNot({ address: "bob@customer.example" })).toBe("sent");
  });

  test("of an arrival that has moved, once there are newer news of it", async () => {
    const renderer = await Renderer.open();
    const { store, companyId } = renderer.site;
    const channel = "email";
    const news = { companyId, channel, code: arrival, address: "a@b", facts, now: start } as const;
    const [first, second] = await store.write(companyId, async (tx) => {
      return [await insertMessage(tx, news), await insertMessage(tx, news)];
    });
    expect(await renderer.whyNot({ id: first, eventCode: etaMovedCode })).toBe("superseded");
    expect(await renderer.whyNot({ id: second, eventCode: etaMovedCode })).toBe("sent");
    expect(await renderer.whyNot({ id: first })).toBe("sent");
  });
});

describe("the time of a message", () => {
  test("is over when it is older than the company lets it be, and a minute of the event goes first", async () => {
    const renderer = await Renderer.open();
    renderer.site.now = start + 60 * minuteMs;
    expect(await renderer.whyNot()).toBe("sent");
    renderer.site.now += 1;
    expect(await renderer.whyNot()).toBe("tooOld");
    renderer.settings = settingsOf({ email, dropWhenOlderThanMinutes: 61 });
    expect(await renderer.whyNot()).toBe("sent");
  });

  test("waits for the end of quiet hours, in steps of six hours, when it is not too old by then", async () => {
    // It is eight o'clock.
    const quietHours = { from: "07:00", to: "09:00" };
    const renderer = await Renderer.open(settingsOf({ email }, { quietHours }));
    expect(await renderer.whyNot()).toBe("postponed 60");
    renderer.settings = settingsOf({ email }, { quietHours, dropWhenOlderThanMinutes: 59 });
    expect(await renderer.make()).toEqual({
      ...{ kind: "dropped", fault: "tooOld" },
      message:
        "quiet hours end at 2026-11-05T09:00:00.000Z, when it is older than 59 minutes (dropWhenOlderThanMinutes)",
    });
    const long = { from: "07:00", to: "20:00" };
    renderer.settings = settingsOf({ email }, { quietHours: long, dropWhenOlderThanMinutes: 1_440 });
    expect(await renderer.whyNot()).toBe("postponed 360");
    renderer.settings = settingsOf({ email }, { quietHours: { from: "09:00", to: "20:00" } });
    expect(await renderer.whyNot()).toBe("sent");
  });
});
