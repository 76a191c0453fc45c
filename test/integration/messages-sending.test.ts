/** Customer messages on their way: when they are sent, what they say, what becomes of them (docs/messages.md). */
import { describe, expect, test } from "vitest";
import { pruneSentMessages } from "../../src/outbound/prune-deliveries.ts";
import { both, contact, MessageSite, stopFor } from "../support/message-site.ts";
import { reply } from "../support/receiver.ts";
import { north } from "../support/route-driver.ts";
import { headerOf } from "../support/smtp-server.ts";

describe("when it is sent", () => {
  async function arrived(messages: object): Promise<MessageSite> {
    const site = await MessageSite.open({ events: { 7007: { sms: { text: "here" } } }, ...messages });
    await site.route.load([stopFor("S1")]);
    await site.route.depart();
    // 21:30 in Berlin.
    site.route.site.now = Date.UTC(2026, 10, 5, 20, 30);
    await site.route.report("stop.dropoff.arrival", { stopNbr: "S1" });
    await site.startQueue();
    await site.pass(0);
    return site;
  }

  const quietHours = { from: "21:00", to: "07:00" };

  test("a message that falls into quiet hours waits for their end, and spends no attempt", async () => {
    const site = await arrived({ quietHours, dropWhenOlderThanMinutes: 720 });
    for (let hour = 1; hour <= 9; hour += 1) await site.pass(60);
    expect(site.texts).toEqual([]);
    expect(await site.states()).toEqual(["waiting"]);
    // Put off by six hours, and then for the rest: not looked at all the time.
    expect(site.lines.filter(({ msg }) => msg === "not sent yet")).toHaveLength(2);
    await site.pass(30);
    expect(site.texts).toEqual(["here"]);
    expect((await site.rows())[0]).toMatchObject({ state: "delivered", attempts: 1 });
  });

  test("one that would be too old then is dropped", async () => {
    const site = await arrived({ quietHours });
    expect(await site.faults()).toEqual(["dropped tooOld"]);
    expect((await site.rows())[0]?.fault_text).toContain("quiet hours end at 2026-11-06T06:00:00.000Z");
    await site.pass(600);
    expect(site.texts).toEqual([]);
  });

  test("one that has more time than the others waits", async () => {
    const events = { 7007: { sms: { text: "here" }, dropWhenOlderThanMinutes: 720 } };
    const site = await arrived({ quietHours, events });
    expect(await site.states()).toEqual(["waiting"]);
  });

  test("outside of them it goes at once", async () => {
    const site = await arrived({ quietHours: { from: "22:00", to: "07:00" } });
    expect(site.texts).toEqual(["here"]);
  });

  test("what cannot be sent in time is dropped rather than sent late", async () => {
    const site = await MessageSite.open({ events: { 7007: { sms: { text: "here" } } } });
    site.sms.always(reply(500));
    await site.route.load([stopFor("S1")]);
    await site.route.depart();
    await site.route.report("stop.dropoff.arrival", { stopNbr: "S1" });
    await site.startQueue();
    for (let minutes = 0; minutes < 120; minutes += 5) await site.pass(5);
    expect((await site.rows())[0]).toMatchObject({ state: "waiting", fault: "busy" });
    site.sms.always();
    const before = site.sms.posts.length;
    await site.pass(180);
    expect(await site.faults()).toEqual(["dropped tooOld"]);
    expect(site.sms.posts).toHaveLength(before);
    expect(site.lines.some(({ fault, level }) => fault === "tooOld" && level === "warn")).toBe(true);
    await site.pass(0);
    expect(site.queue.statistics().find(({ target }) => target === "messages.sms")).toMatchObject({
      ...{ open: 0, dead: 0 },
      attempts: { dropped: 1 },
    });
  });

  test("messages of a stop go in their order; one that is refused lets the next go", async () => {
    const site = await MessageSite.open({
      events: { 7007: { email: { subject: "1", text: "1" } }, 7009: { email: { subject: "2", text: "2" } } },
    });
    await site.route.load([stopFor("S1"), stopFor("S2", {}, north(20))]);
    await site.route.depart();
    for (const stopNbr of ["S1", "S2"]) {
      await site.route.report("stop.dropoff.arrival", { stopNbr });
      await site.route.report("stop.dropoff.confirmation", { stopNbr });
    }
    let asked = 0;
    site.smtp.script((command) => (command === "RCPT TO" && ++asked === 1 ? "550 nobody" : undefined));
    await site.startQueue();
    await site.pass(0);
    await site.pass(0);
    expect((await site.states()).toSorted()).toEqual(["dead", "delivered", "delivered", "delivered"]);
    const subjects = site.smtp.mails.map((mail) => headerOf(mail, "Subject"));
    expect(subjects.filter((subject) => subject === "2")).toHaveLength(2);
  });

  test("a server that is away holds up no text message", async () => {
    const site = await MessageSite.open({ events: { 7007: both("here") } });
    await site.smtp.end();
    await site.route.load([stopFor("S1")]);
    await site.route.depart();
    await site.route.report("stop.dropoff.arrival", { stopNbr: "S1" });
    await site.startQueue();
    await site.pass(0);
    expect(site.texts).toEqual(["here"]);
    expect(await site.faults()).toEqual(["waiting unreachable", "delivered null"]);
  });
});

describe("templates", () => {
  test("values are escaped in HTML, and on one line everywhere", async () => {
    const html = "<p>{{stop.contact.contactName}}</p>";
    const subject = "For {{stop.contact.contactName}}";
    const events = { 7007: { email: { subject, text: "{{stop.contact.contactName}}", html } } };
    const site = await MessageSite.open({ events });
    const contactName = "<b>Ann</b>\r\nBcc: eve@evil.example";
    await site.route.load([stopFor("S1", {}, { contact: { ...contact, contactName } })]);
    await site.route.depart();
    await site.route.report("stop.dropoff.arrival", { stopNbr: "S1" });
    await site.startQueue();
    await site.pass(0);
    const [mail] = site.smtp.mails;
    expect(mail?.to).toEqual(["ann@customer.example"]);
    expect(mail?.source).not.toMatch(/^bcc:/im);
    expect(mail?.source).toContain("<p>&lt;b&gt;Ann&lt;/b&gt; Bcc: eve@evil.example</p>");
    expect(mail === undefined ? "" : headerOf(mail, "Subject")).toBe("For <b>Ann</b> Bcc: eve@evil.example");
  });

  test("a long text message is cut, an empty one is dropped", async () => {
    const events = { 7007: { sms: { text: "{{stop.reference1}}" } } };
    const site = await MessageSite.open({ events });
    await site.route.load([stopFor("S1", { reference1: "x".repeat(30) }), stopFor("S2", {}, north(20))]);
    const { sms } = site.config.companies["ACME"]?.messages ?? {};
    await site.configure({ events, sms: { ...sms, maxCharacters: 20 } });
    await site.route.depart();
    for (const stopNbr of ["S1", "S2"]) await site.route.report("stop.dropoff.arrival", { stopNbr });
    await site.startQueue();
    await site.pass(0);
    expect(site.texts).toEqual([`${"x".repeat(19)}…`]);
    expect(await site.faults()).toEqual(["delivered null", "dropped empty"]);
  });

  test("a template that is gone drops what waits for it, one that is mended mends it", async () => {
    const site = await MessageSite.open({
      events: { 7007: { sms: { text: "old" } }, 7009: { sms: { text: "b" } } },
    });
    await site.route.load([stopFor("S1")]);
    await site.route.depart();
    await site.route.report("stop.dropoff.arrival", { stopNbr: "S1" });
    await site.route.report("stop.dropoff.confirmation", { stopNbr: "S1" });
    await site.configure({ events: { 7007: { sms: { text: "new" } } } });
    await site.startQueue();
    await site.pass(0);
    await site.pass(0);
    expect(site.texts).toEqual(["new"]);
    expect(await site.faults()).toEqual(["delivered null", "dropped notConfigured"]);
  });
});

test("what is over is removed after its time, what waits stays", async () => {
  const site = await MessageSite.open({ events: { 7007: both("here") } });
  await site.route.load([stopFor("S1"), stopFor("S2", {}, { ...north(20), contact: { sms: "wrong" } })]);
  await site.route.depart();
  await site.smtp.end();
  for (const stopNbr of ["S1", "S2"]) await site.route.report("stop.dropoff.arrival", { stopNbr });
  await site.startQueue();
  await site.pass(0);
  const { companyId, now } = site.route.site;
  const before = now + 10 * 24 * 3_600_000;
  await pruneSentMessages(site.store, { companyId, before }, new AbortController().signal);
  expect(await site.names()).toEqual(["S1 7007 email a…@customer.example"]);
  expect(await site.store.read.selectFrom("messages").select("channel").execute()).toEqual([
    { channel: "email" },
  ]);
});
