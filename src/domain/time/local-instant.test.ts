import { describe, expect, it, test } from "vitest";
import { validateLoad } from "../load/load.ts";
import { normaliseLoad } from "../load/normalise-load.ts";
import { normaliseStop } from "../stop/normalise-stop.ts";
import { validateOrder } from "../order/order.ts";
import { normaliseReport } from "../execution/route-event.ts";
import { validateStop } from "../stop/stop.ts";

const newYork = "America/New_York";

function scheduled(fields: object): unknown {
  return normaliseStop({ stopNbr: "1", to: { schedule: fields } });
}

function timeFromOf(stop: unknown): unknown {
  return (stop as { to: { schedule: { timeFrom: unknown } } }).to.schedule.timeFrom;
}

describe("an instant beside a time zone", () => {
  test.each([
    ["2026-11-05T08:00:00Z", newYork, "2026-11-05T03:00:00"],
    ["2026-07-05T08:00:00Z", newYork, "2026-07-05T04:00:00"],
    ["2026-11-05T08:00:00+01:00", "Europe/Berlin", "2026-11-05T08:00:00"],
    ["2026-11-05T08:00:00.1234567-06:00", "EST", "2026-11-05T09:00:00"],
    ["2026-1-1T0:0:0Z", "Asia/Kathmandu", "2026-01-01T05:45:00"],
    // The last moment before and the first after the hour that the day skips.
    ["2026-03-08T06:59:59Z", newYork, "2026-03-08T01:59:59"],
    ["2026-03-08T07:00:00Z", newYork, "2026-03-08T03:00:00"],
    // The hour that the day has twice: both moments have one local time.
    ["2026-11-01T05:30:00Z", newYork, "2026-11-01T01:30:00"],
    ["2026-11-01T06:30:00Z", newYork, "2026-11-01T01:30:00"],
  ])("%s in %s is %s", (timeFrom, timeZone, expected) => {
    expect(timeFromOf(scheduled({ timeFrom, timeZone }))).toBe(expected);
  });

  it("is refused with its remedy where no zone stands beside it", () => {
    const [fault, ...others] = validateStop(scheduled({ timeFrom: "2026-11-05T08:00:00Z" }), "stops[0]");
    expect(fault).toMatchObject({ code: "badDate", path: "stops[0].to.schedule.timeFrom" });
    expect(fault?.message).toMatch(
      /is an instant, and no time zone stands beside it.* Send the local time without Z or offset, or its zone too/,
    );
    expect(others).toEqual([]);
  });

  it("is refused beside a zone that is none, which is told too", () => {
    const stop = scheduled({ timeFrom: "2026-11-05T08:00:00Z", timeZone: "Mars/Olympus" });
    expect(validateStop(stop, "").map(({ path }) => path)).toEqual([
      ...["to.schedule.timeFrom", "to.schedule.timeZone"],
    ]);
  });

  it("takes the zone of its own schedule, of the stop for receipt and details, and of the load else", () => {
    const at = "2026-11-05T08:00:00Z";
    const stop = {
      stopNbr: "1",
      receivedDttm: at,
      from: { schedule: { timeFrom: at, timeZone: "CET" } },
      to: { schedule: { timeFrom: at, timeZone: newYork } },
      stopDetails: [{ earliestDTTM: at }, { earliestDTTM: at, deliveryType: "PU" }],
    };
    expect(normaliseStop(stop)).toMatchObject({
      receivedDttm: "2026-11-05T03:00:00",
      from: { schedule: { timeFrom: "2026-11-05T09:00:00" } },
      to: { schedule: { timeFrom: "2026-11-05T03:00:00" } },
      stopDetails: [{ earliestDTTM: "2026-11-05T03:00:00" }, { earliestDTTM: "2026-11-05T09:00:00" }],
    });
    const loadHeader = { loadNbr: "1", loadTimeZone: "EET", earliestStartDttm: at };
    const stops = [{ stopNbr: "1", to: { schedule: { timeFrom: at } }, stopDetails: [{ latestDTTM: at }] }];
    expect(normaliseLoad({ loadHeader, stops })).toMatchObject({
      loadHeader: { earliestStartDttm: "2026-11-05T10:00:00" },
      stops: [
        {
          to: { schedule: { timeFrom: "2026-11-05T10:00:00" } },
          stopDetails: [{ latestDTTM: "2026-11-05T10:00:00" }],
        },
      ],
    });
  });

  it("of an event takes the zone of the event", () => {
    const geoStamp = { eventDTTM: "2026-11-05T08:00:00.000Z", eventTz: newYork };
    expect(normaliseReport({ geoStamp })).toEqual({
      geoStamp: { eventDTTM: "2026-11-05T03:00:00", eventTz: newYork },
    });
  });
});

describe("a window", () => {
  const faultsOf = (schedule: object) => validateStop(scheduled(schedule), "");

  it("does not end before it begins", () => {
    const schedule = { timeFrom: "2026-11-05T08:00:00", timeTo: "2026-11-05T07:59:59" };
    expect(faultsOf(schedule)).toEqual([
      {
        code: "badDate",
        path: "to.schedule.timeTo",
        message:
          "to.schedule.timeTo is 2026-11-05T07:59:59, before the begin of the window, 2026-11-05T08:00:00. " +
          "Send an end that is not before its begin.",
      },
    ]);
    expect(faultsOf({ timeFrom: "2026-11-05T08:00:00", timeTo: "2026-11-05T08:00:00" })).toEqual([]);
  });

  it("over the hour that a day has twice may end at an earlier time of the clock, and is taken back so", () => {
    const instants = { timeFrom: "2026-11-01T05:50:00Z", timeTo: "2026-11-01T06:10:00Z", timeZone: newYork };
    const stop = scheduled(instants);
    expect(stop).toMatchObject({ to: { schedule: { timeTo: "2026-11-01T01:10:00" } } });
    expect(validateStop(stop, "")).toEqual([]);
    const winter = { timeFrom: "2026-12-01T01:50:00", timeTo: "2026-12-01T01:10:00", timeZone: newYork };
    expect(faultsOf(winter)).toHaveLength(1);
  });

  it("of a detail and of a load's start is held to the same", () => {
    const window = { earliestDTTM: "2026-11-05T08:00:00", latestDTTM: "2026-11-04T08:00:00" };
    expect(validateStop({ stopNbr: "1", stopDetails: [{}, window] }, "stops[2]")).toMatchObject([
      { code: "badDate", path: "stops[2].stopDetails[1].latestDTTM" },
    ]);
  });

  it("is told together with the faults of other values, whatever these are", () => {
    const schedule = { timeFrom: "2026-11-05T08:00:00", timeTo: "2026-11-05T07:00:00", timeZone: "Mars" };
    const stop = { stopNbr: "1", from: 3, to: { schedule }, stopDetails: [null, { quantity: {} }] };
    expect(validateStop(stop, "stops[0]").map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        "stops[0].from",
        "stops[0].to.schedule.timeZone",
        "stops[0].to.schedule.timeTo",
      ]),
    );
    expect(validateOrder({ to: { schedule } }, "").map(({ path }) => path)).toContain("to.schedule.timeTo");
    const loadHeader = { earliestStartDttm: "2026-11-05T08:00:00", latestStartDttm: "2026-11-05T07:00:00" };
    const stops = [{ stopNbr: "1" }, { stopNbr: "1" }, 4];
    expect(validateLoad({ loadHeader, stops }, "loads[0]").map(({ path }) => path)).toEqual(
      expect.arrayContaining(
        ["loadNbr", "latestStartDttm"]
          .map((name) => `loads[0].loadHeader.${name}`)
          .concat("loads[0].stops[2]", "loads[0].stops[1].stopNbr"),
      ),
    );
  });
});
