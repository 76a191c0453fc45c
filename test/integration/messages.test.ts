/** Customer messages from the event to the server (specification/outbound.md#messages-to-customers). */
import { describe, expect, test } from "vitest";
import { retryDelivery } from "../../src/operations/deliveries/repeat-delivery.ts";
import { listDeliveries } from "../../src/store/outbound/delivery-lists.ts";
import { addOptOut } from "../../src/store/outbound/message-opt-outs.ts";
import { importOrder, morning, reserve, slotIds } from "../support/appointment-client.ts";
import { regionOf, settingsOf } from "../support/appointment-settings.ts";
import { both, contact, MessageSite, stopFor } from "../support/message-site.ts";
import { north } from "../support/route-driver.ts";
import { headerOf } from "../support/smtp-server.ts";

test("nothing is queued without configuration, nor for events that are not in it", async () => {
  const site = await MessageSite.open({ events: { 7009: both("delivered") } });
  await site.configureNothing();
  await site.route.load([stopFor("S1")]);
  await site.route.depart();
  await site.route.report("stop.dropoff.arrival", { stopNbr: "S1" });
  expect(await site.rows()).toEqual([]);
  await site.configure({ events: { 7009: both("delivered") } });
  await site.route.report("stop.dropoff.confirmation", { stopNbr: "S1" });
  expect(await site.names()).toEqual(["S1 7009 email a…@customer.example", "S1 7009 sms …567"]);
});

test("an event is told by e-mail and text message, each once, with the values of its stop", async () => {
  const template =
    "{{stop.contact.contactName}}: {{driver.driverName}} with {{load.loadNbr}} at {{event.time}}";
  const site = await MessageSite.open({ events: { 7007: both(template) } });
  await site.route.load([stopFor("S1")]);
  await site.route.depart();
  await site.route.report("stop.dropoff.arrival", { stopNbr: "S1", at: 30 });
  await site.startQueue();
  await site.pass(0);
  const text = "Ann Hill: Ann Hill with L1 at 09:30";
  expect(site.texts).toEqual([text]);
  const [mail] = site.smtp.mails;
  expect(site.smtp.mails).toHaveLength(1);
  expect(mail?.to).toEqual(["ann@customer.example"]);
  expect(mail?.source).toContain(text);
  const rows = await site.rows();
  expect(rows.map(({ state }) => state)).toEqual(["delivered", "delivered"]);
  if (mail !== undefined) expect(headerOf(mail, "Message-ID")).toBe(`<${rows[0]?.guid}@acme.example>`);
  expect(site.sms.posts[0]?.headers["idempotency-key"]).toBe(rows[1]?.guid);
  expect(JSON.parse(site.sms.posts[0]?.body.toString() ?? "")).toMatchObject({ to: "+491701234567" });
  await site.pass(60);
  expect(site.texts).toHaveLength(1);
});

describe("who is told", () => {
  test("every open stop of a load that is started, by the ways that it has", async () => {
    const site = await MessageSite.open({ events: { 7004: both("{{stop.stopNbr}}") } });
    const noMessages = [{ keyField: "noMessages", keyValue: "sms" }];
    await site.route.load([
      stopFor("S1"),
      stopFor("S2", {}, { contact: { sms: "12345", email: null } }),
      stopFor("S3", {}, { contact: { contactName: "Nobody", email: " ", sms: "" } }),
      stopFor("S4", { customAttributes: noMessages }),
      stopFor("S5"),
    ]);
    await site.store.write("site", (tx) =>
      tx.updateTable("stops").set({ stop_status: "80" }).where("stop_nbr", "=", "S5").execute(),
    );
    await site.route.report("route.initiated");
    expect(await site.names()).toEqual([
      "S1 7004 email a…@customer.example",
      "S1 7004 sms …567",
      "S2 7004 sms …345",
      "S4 7004 email a…@customer.example",
    ]);
  });

  test("the driver is named who has started a load that was nobody's", async () => {
    const site = await MessageSite.open({ events: { 7004: { sms: { text: "{{driver.driverName}}" } } } });
    await site.route.load([stopFor("S1")], { driver: null });
    await site.route.report("route.initiated");
    await site.startQueue();
    await site.pass(0);
    expect(site.texts).toEqual(["Ann Hill"]);
  });

  test("the planned arrival is known to the message that the driver has started, and is what later ones move from", async () => {
    const site = await MessageSite.open({
      events: { 7004: { sms: { text: "at {{eta.time}}" } }, etaMoved: { sms: { text: "now {{eta.time}}" } } },
    });
    await site.route.load([stopFor("S1")]);
    await site.route.report("route.initiated", { at: 0 });
    await site.startQueue();
    await site.pass(0);
    // 1.3 times 10 km at 45 km/h are 17 minutes and 20 seconds, told in the zone of the stop.
    expect(site.texts).toEqual(["at 09:17"]);
    await site.route.position(0, { at: 20 });
    await site.pass(0);
    expect(site.texts).toEqual(["at 09:17", "now 09:37"]);
  });

  test("the contact of the pickup, with its arrival, and then the customer of the delivery with the other", async () => {
    const text = "{{stop.contact.contactName}} {{eta.time}}";
    const site = await MessageSite.open({
      events: { 7007: { sms: { text } }, etaMoved: { sms: { text: `moved ${text}` } } },
    });
    const sender = { contactName: "Sam", sms: "+49 170 7654321" };
    await site.route.load([
      stopFor("S1", { from: { ...north(10), contact: sender } }, { ...north(20), contact }),
    ]);
    await site.route.report("route.initiated", { at: 0 });
    await site.route.report("stop.pickup.arrival", { stopNbr: "S1", at: 17 });
    await site.route.report("stop.pickup.confirmation", { stopNbr: "S1", at: 17 });
    await site.route.report("stop.dropoff.arrival", { stopNbr: "S1", at: 35 });
    await site.startQueue();
    await site.pass(0);
    // Each in the zone of its place: the pickup has none, and the driver reports in UTC.
    expect(site.texts.toSorted()).toEqual(["Ann Hill 09:34", "Sam 08:17"]);
  });

  test("the customer of an order, when an appointment is to be chosen and when it is confirmed", async () => {
    const text = "{{window.date}} {{window.from}}-{{window.to}} {{time.zone}}";
    const site = await MessageSite.open({
      events: { 8101: { sms: { text: "choose" } }, 8102: { sms: { text } } },
    });
    const gateway = site.route.site;
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 2 })], { horizonDays: 1 });
    await importOrder(gateway, "O1", { to: { contact } });
    const ids = await slotIds(gateway, { orderId: "O1" });
    await reserve(gateway, { orderId: "O1", timeSlotId: ids.get(morning) });
    await site.startQueue();
    await site.pass(0);
    await site.pass(0);
    expect(site.texts).toEqual(["choose", "6 Nov 2026 08:00-12:00 America/New_York"]);
  });

  test("an address that has opted out gets nothing, nor what waited for it", async () => {
    const events = { 7007: both("here"), 7009: both("done") };
    const site = await MessageSite.open({ events });
    await site.route.load([stopFor("S1")]);
    await site.route.depart();
    await site.route.report("stop.dropoff.arrival", { stopNbr: "S1" });
    const { companyId } = site.route.site;
    for (const address of ["ANN@customer.example", "+49 170 1234567"])
      expect(await site.store.write("site", (tx) => addOptOut(tx, { companyId, address, now: 1 }))).toBe(
        true,
      );
    await site.route.report("stop.dropoff.confirmation", { stopNbr: "S1" });
    expect(await site.rows()).toHaveLength(2);
    await site.startQueue();
    await site.pass(0);
    expect(await site.faults()).toEqual(["dropped optedOut", "dropped optedOut"]);
    expect([site.texts, site.smtp.mails]).toEqual([[], []]);
  });

  test("what is no address is dropped, and says so", async () => {
    const site = await MessageSite.open({ events: { 7007: both("here") } });
    const wrong = { email: "ann@customer.example, eve@evil.example", sms: "call me" };
    await site.route.load([stopFor("S1", {}, { contact: wrong })]);
    await site.route.depart();
    await site.route.report("stop.dropoff.arrival", { stopNbr: "S1" });
    await site.startQueue();
    await site.pass(0);
    expect(await site.faults()).toEqual(["dropped invalidAddress", "dropped invalidAddress"]);
    expect(site.smtp.connections()).toBe(0);
    const [listed] = await listDeliveries(site.store.read, { stopNbr: "S1", state: "dropped", limit: 10 });
    expect(listed).toMatchObject({ kind: "message", target: "messages.sms", fault: "invalidAddress" });
    const id = listed?.id ?? 0;
    const retry = await site.store.write("site", (tx) => retryDelivery(tx, { id, now: site.route.site.now }));
    expect(retry).toMatchObject({ kind: "refused" });
  });
});

describe("the planned arrival", () => {
  const text = "{{eta.previousTime}} {{eta.time}}";

  test("is told when it has moved by more than is configured from what was told last", async () => {
    const site = await MessageSite.open({ etaMovedMinutes: 15, events: { etaMoved: { sms: { text } } } });
    await site.route.load([stopFor("S1")]);
    await site.route.depart();
    const counts = [];
    // The first was known at the start of the load, a minute after eight.
    await site.startQueue();
    for (const at of [10, 16, 17, 32, 33, 60]) {
      await site.route.position(0, { at });
      await site.pass(0);
      counts.push(site.texts.length);
    }
    expect(counts).toEqual([0, 0, 1, 1, 2, 3]);
    const told = site.texts.map((one) => one.split(" "));
    expect(told[1]?.[0]).toBe(told[0]?.[1]);
    expect(told[2]?.[0]).toBe(told[1]?.[1]);
  });

  test("that had to wait is not sent when a later message tells more", async () => {
    const events = { etaMoved: { sms: { text: "moved to {{eta.time}}" } }, 7007: { sms: { text: "here" } } };
    const site = await MessageSite.open({ etaMovedMinutes: 15, events });
    await site.route.load([stopFor("S1"), stopFor("S2", {}, north(20))]);
    await site.route.depart();
    for (const at of [30, 60]) await site.route.position(0, { at });
    await site.route.report("stop.dropoff.arrival", { stopNbr: "S1" });
    await site.startQueue();
    await site.pass(0);
    await site.pass(0);
    const faults = await site.faults();
    expect(faults.filter((fault) => fault === "delivered null")).toHaveLength(2);
    expect(faults.filter((fault) => fault === "dropped superseded")).toHaveLength(faults.length - 2);
    expect(faults.length).toBeGreaterThan(4);
    expect(site.texts.toSorted()).toEqual(["here", expect.stringContaining("moved to")]);
  });

  test("earlier counts as well as later", async () => {
    const site = await MessageSite.open({ etaMovedMinutes: 15, events: { etaMoved: { sms: { text } } } });
    await site.route.load([stopFor("S1", {}, north(60))]);
    await site.route.depart();
    await site.route.position(0, { at: 10 });
    await site.route.position(55, { at: 11 });
    expect(await site.rows()).toHaveLength(1);
  });

  test("counts from a message of another event that told it", async () => {
    const events = { etaMoved: { sms: { text } }, 7007: { sms: { text: "{{eta.time}}" } } };
    const site = await MessageSite.open({ etaMovedMinutes: 15, events });
    await site.route.load([stopFor("S1"), stopFor("S2", {}, north(20))]);
    await site.route.depart();
    const toldEta = async () => {
      const query = site.store.read.selectFrom("message_etas").select("eta_at").where("stop_nbr", "=", "S2");
      return (await query.executeTakeFirstOrThrow()).eta_at;
    };
    const before = await toldEta();
    await site.route.position(0, { at: 10 });
    expect(await toldEta()).toBe(before);
    await site.route.report("stop.dropoff.arrival", { stopNbr: "S2", at: 11 });
    expect((await toldEta()) - before).toBe(9 * 60_000);
    expect(await site.names()).toEqual(["S2 7007 sms …567"]);
  });

  test("is not told of a stop at which the driver is", async () => {
    const site = await MessageSite.open({ etaMovedMinutes: 15, events: { etaMoved: { sms: { text } } } });
    await site.route.load([stopFor("S1")]);
    await site.route.depart();
    await site.route.report("stop.dropoff.arrival", { stopNbr: "S1", at: 10 });
    await site.route.position(10, { at: 90 });
    expect(await site.rows()).toEqual([]);
  });

  test("costs nothing without configuration", async () => {
    const site = await MessageSite.open({ events: { 7007: both("here") } });
    await site.route.load([stopFor("S1")]);
    await site.route.depart();
    for (const at of [10, 90]) await site.route.position(0, { at });
    expect(await site.store.read.selectFrom("message_etas").selectAll().execute()).toEqual([]);
    expect(await site.rows()).toEqual([]);
  });
});

test("without configuration no statement touches the tables of messages", async () => {
  const site = await MessageSite.open({ events: { 7009: both("done") } });
  await site.configureNothing();
  await site.store.write("site", async (tx) => {
    for (const table of ["messages", "message_plans", "message_etas", "message_opt_outs"])
      await tx.schema.dropTable(table).execute();
  });
  await site.route.load([stopFor("S1")]);
  await site.route.depart();
  await site.route.position(0, { at: 10 });
  await site.route.position(0, { at: 60 });
  await site.route.report("stop.dropoff.confirmation", { stopNbr: "S1" });
  expect(await site.route.loadStatus()).toBe(90);
});
