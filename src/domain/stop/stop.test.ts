import { describe, expect, test } from "vitest";
import { normaliseStop } from "./normalise-stop.ts";
import { validateStop } from "./stop.ts";

function check(value: unknown, path = "stops[3]") {
  return validateStop(normaliseStop(value), path).map(({ code, path: at }) => ({ code, path: at }));
}

describe("normaliseStop", () => {
  test("a to inside from is lifted beside it", () => {
    const from = { address: { city: "A" }, to: { address: { city: "B" } } };
    expect(normaliseStop({ stopNbr: "1", from })).toEqual({
      stopNbr: "1",
      from: { address: { city: "A" } },
      to: { address: { city: "B" } },
    });
  });

  test("a single comment becomes a list of one, in the stop and in its details", () => {
    const comments = { commentType: 1, commentDescription: "x" };
    const stop = normaliseStop({ stopNbr: "1", comments, stopDetails: [{ comments }] });
    expect(stop).toEqual({ stopNbr: "1", comments: [comments], stopDetails: [{ comments: [comments] }] });
  });

  test.each([
    [{ estDuration: 15 }, { estimatedDuration: "15" }],
    [{ estDuration: "15" }, { estimatedDuration: "15" }],
    [{ estimatedDuration: "20" }, { estimatedDuration: "20" }],
    [{ estimatedDuration: 20, estDuration: 15 }, { estimatedDuration: "20" }],
    [{ estimatedDuration: "", estDuration: null }, {}],
    [{ timeFrom: "2020-4-5T8:0:0" }, { timeFrom: "2020-04-05T08:00:00" }],
    [
      { timeTo: "2020-07-05T08:00:00Z", timeZone: "America/Chicago" },
      { timeTo: "2020-07-05T03:00:00", timeZone: "America/Chicago" },
    ],
    [{ timeTo: "2020-04-05T08:00:00Z" }, { timeTo: "2020-04-05T08:00:00Z" }],
    [{ timeTo: "soon" }, { timeTo: "soon" }],
  ])("the schedule %j becomes %j", (schedule, expected) => {
    expect(normaliseStop({ to: { schedule } })).toEqual({ to: { schedule: expected } });
  });

  test("an invoice date, beside which no zone stands, keeps its Z", () => {
    const stop = { stopDetails: [{ invoiceDate: "2020-4-5T8:0:0Z" }, { invoiceDate: "2020-4-5" }] };
    const stopDetails = [{ invoiceDate: "2020-04-05T08:00:00Z" }, { invoiceDate: "2020-04-05" }];
    expect(normaliseStop(stop)).toEqual({ stopDetails });
  });

  test("an order date keeps its Z, and nothing is changed in place", () => {
    const stop = { stopDetails: [{ orderDate: "2020-4-5T8:0:0Z" }] };
    expect(normaliseStop(stop)).toEqual({ stopDetails: [{ orderDate: "2020-04-05T08:00:00Z" }] });
    expect(stop.stopDetails[0]?.orderDate).toBe("2020-4-5T8:0:0Z");
  });

  test.each([null, 1, "x", [], { from: 1, to: [], stopDetails: {}, comments: 3 }])(
    "%j does not make it fail",
    (value) => {
      expect(() => normaliseStop(value)).not.toThrow();
    },
  );
});

describe("validateStop", () => {
  test("string or number fields take both, and unknown fields are left alone", () => {
    const stop = { stopNbr: "1", stopSeq: 1, sealNbr: 7, totalCartons: "3", shipmentType: "X" };
    expect(check(stop)).toEqual([]);
  });

  test("latitude and longitude take numbers, empty strings and null; contacts take null", () => {
    const address = { latitude: "", longitude: null };
    expect(check({ stopNbr: "1", to: { address, contact: { email: null, phone: "" } } })).toEqual([]);
    expect(check({ stopNbr: "1", to: { address: { latitude: "north", longitude: 181 } } })).toEqual([
      { code: "wrongType", path: "stops[3].to.address.latitude" },
      { code: "wrongType", path: "stops[3].to.address.longitude" },
    ]);
  });

  test.each<[unknown, string, string]>([
    [{}, "missing", "stops[3].stopNbr"],
    [{ stopNbr: "" }, "missing", "stops[3].stopNbr"],
    [{ stopNbr: 1 }, "wrongType", "stops[3].stopNbr"],
    [{ stopNbr: "x".repeat(21) }, "tooLong", "stops[3].stopNbr"],
    [{ stopNbr: "1", proNumber: 12_345_678_901 }, "tooLong", "stops[3].proNumber"],
    [{ stopNbr: "1", sealNbr: "x".repeat(21) }, "tooLong", "stops[3].sealNbr"],
    [{ stopNbr: "1", to: { address: { zip: "x".repeat(2_001) } } }, "tooLong", "stops[3].to.address.zip"],
    [{ stopNbr: "1", to: { address: { zip: 5 } } }, "wrongType", "stops[3].to.address.zip"],
    [
      { stopNbr: "1", to: { schedule: { timeFrom: "2026-02-30T08:00:00" } } },
      "badDate",
      "stops[3].to.schedule.timeFrom",
    ],
    [
      { stopNbr: "1", to: { schedule: { timeZone: "Mars/Olympus" } } },
      "badDate",
      "stops[3].to.schedule.timeZone",
    ],
    [
      { stopNbr: "1", to: { schedule: { estDuration: "long" } } },
      "wrongType",
      "stops[3].to.schedule.estimatedDuration",
    ],
    [
      { stopNbr: "1", stopDetails: [{}, { product: "x".repeat(101) }] },
      "tooLong",
      "stops[3].stopDetails[1].product",
    ],
    [{ stopNbr: "1", markAsReceived: "yes" }, "wrongType", "stops[3].markAsReceived"],
    [5, "wrongType", "stops[3]"],
  ])("%j is refused as %s at %s", (stop, code, path) => {
    expect(check(stop)).toEqual([{ code, path }]);
  });

  test("messages name the field, the fault and the remedy", () => {
    const [fault] = validateStop({ stopNbr: "x".repeat(21) }, "stops[0]");
    expect(fault?.message).toBe(
      "stops[0].stopNbr is 21 characters long, more than its maximum of 20. Shorten it.",
    );
  });

  test("one fault more than an answer carries is kept", () => {
    expect(check({ stopNbr: "1", stopDetails: Array(80).fill({ unitPrice: "x" }) })).toHaveLength(51);
  });
});
