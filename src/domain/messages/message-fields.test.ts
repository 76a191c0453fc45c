import { describe, expect, test } from "vitest";
import {
  isRefusedByStop,
  messageFactsOf,
  messageFieldNames,
  type MessageSource,
  messageValues,
} from "./message-fields.ts";

const source: MessageSource = {
  stop: {
    stopNbr: "S1",
    bol: 77,
    from: { address: { addr1: "Dock 1" }, contact: { contactName: "Ship Per" } },
    to: {
      address: { addr1: "Main St 1", city: "Ulm" },
      contact: { contactName: "Ann Hill", email: "ann@example.com" },
      schedule: { timeFrom: "2026-11-05T14:00:00", timeTo: "2026-11-05T16:00:00", timeZone: "Europe/Berlin" },
    },
  },
  execution: { to: { plannedEtaDTTM: "2026-11-05T13:05:00", plannedEtaTz: "UTC" } },
  loadNbr: "L1",
  driverName: "Bob Vale",
  defaultZone: "UTC",
  event: { eventDTTM: "2026-11-05T07:30:00", eventTz: "America/New_York" },
  recordedAt: Date.UTC(2026, 10, 5, 12, 31),
};

function shownAs(name: string, rest: Partial<MessageSource> = {}, locale = "en-GB"): string | undefined {
  return messageValues(messageFactsOf({ ...source, ...rest }), locale).get(name);
}

describe("values", () => {
  test.each([
    ["stop.stopNbr", "S1"],
    ["stop.contact.contactName", "Ann Hill"],
    ["stop.address.city", "Ulm"],
    ["stop.address.zip", ""],
    ["stop.bol", "77"],
    ["tracking.reference", "77"],
    ["load.loadNbr", "L1"],
    ["driver.driverName", "Bob Vale"],
    ["eta.date", "5 Nov 2026"],
    ["eta.time", "14:05"],
    ["eta.previousTime", ""],
    ["window.from", "14:00"],
    ["window.to", "16:00"],
    ["event.time", "13:30"],
    ["time.zone", "Europe/Berlin"],
  ])("%s is %j, by the clocks of the stop", (name, value) => expect(shownAs(name)).toBe(value));

  test("there is one for each name, also of a stop of which nothing is known", () => {
    const bare = { ...source, stop: { stopNbr: "S1" }, execution: {}, loadNbr: null, driverName: undefined };
    const values = messageValues(messageFactsOf({ ...bare, event: {} }), "en-GB");
    expect(new Set(values.keys())).toEqual(messageFieldNames);
    expect(values.get("tracking.reference")).toBe("S1");
    expect(values.get("event.time")).toBe("12:31");
  });

  test("dates and times are written as the locale has it", () => {
    expect(shownAs("eta.date", {}, "de-DE")).toBe("05.11.2026");
    expect(shownAs("eta.time", {}, "en-US")).toMatch(/^2:05\sPM$/);
  });

  test("what moved is told beside what was told before", () => {
    const previousEtaAt = Date.UTC(2026, 10, 5, 12, 40);
    expect(shownAs("eta.previousTime", { previousEtaAt })).toBe("13:40");
  });

  test("of a pickup are those of where it is picked up", () => {
    const event = { ...source.event, visit: "pickup" };
    expect(shownAs("stop.contact.contactName", { event })).toBe("Ship Per");
    expect(shownAs("stop.contact.contactName", { event: { ...event, visit: "dropoff" } })).toBe("Ann Hill");
    const arrived = { ...source.event, reportedCode: "stop.pickup.arrival" };
    expect(shownAs("stop.contact.contactName", { event: arrived })).toBe("Ship Per");
    const { to } = source.stop;
    const stop = { stopNbr: "S1", stopType: "PU", ...(to === undefined ? {} : { to }) };
    expect(shownAs("stop.contact.contactName", { stop, event })).toBe("Ann Hill");
  });

  test("what survives being kept as JSON says the same", () => {
    const facts = messageFactsOf(source);
    expect(messageValues(JSON.parse(JSON.stringify(facts)), "en-GB")).toEqual(messageValues(facts, "en-GB"));
  });
});

describe("the custom attribute noMessages", () => {
  test.each([
    [undefined, true, true],
    ["", true, true],
    ["yes", true, true],
    ["EMAIL", true, false],
    ["sms", false, true],
    ["false", false, false],
    ["No", false, false],
    ["0", false, false],
  ])("%j refuses e-mail: %s, text messages: %s", (keyValue, email, sms) => {
    const attribute = { keyField: "nomessages", ...(keyValue === undefined ? {} : { keyValue }) };
    const stop = { customAttributes: [{ keyField: "other", keyValue: "yes" }, attribute] };
    expect([isRefusedByStop(stop, "email"), isRefusedByStop(stop, "sms")]).toEqual([email, sms]);
  });

  test("is not needed", () => expect(isRefusedByStop({}, "email")).toBe(false));
});
