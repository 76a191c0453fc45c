import { describe, expect, it, test } from "vitest";
import { createCanonicalForm } from "./canonical-form.ts";
import { validateLoad } from "../load/load.ts";
import { normaliseLoad } from "../load/normalise-load.ts";
import { normaliseOrder, normaliseStop } from "../stop/normalise-stop.ts";
import { validateOrder } from "../order/order.ts";
import { validateStop } from "../stop/stop.ts";
import { User, validateUser } from "../users/user.ts";

const canonicalUser = createCanonicalForm(User);

describe("a field that serializers write although it is left out", () => {
  it("is left out when it is null, but for contacts and coordinates", () => {
    const address = { city: null, latitude: null, longitude: "" };
    const contact = { contactName: null, email: "", phone: null, sms: null };
    const sent = {
      ...{ stopNbr: "1", stopSeq: null, to: { address, contact, schedule: null, txnRef: null } },
      ...{ from: null, comments: null, stopDetails: [{ quantity: null, confirmed: null }], colour: null },
      shade: { of: null },
    };
    const stop = normaliseStop(sent);
    const to = { address: { latitude: null, longitude: "" }, contact };
    expect(stop).toEqual({ stopNbr: "1", to, stopDetails: [{}], shade: { of: null } });
    expect(validateStop(stop, "")).toEqual([]);
  });

  it("is missing when it is null and required", () => {
    expect(validateStop(normaliseStop({ stopNbr: null }), "stops[0]")).toMatchObject([
      { code: "missing", path: "stops[0].stopNbr" },
    ]);
    expect(validateLoad(normaliseLoad({ loadHeader: null }), "loads[0]")).toMatchObject([
      { code: "missing", path: "loads[0].loadHeader" },
    ]);
  });

  it("is left out when it is an empty date, zone or number", () => {
    const schedule = { timeFrom: "", timeTo: " ", timeZone: "", estDuration: "" };
    const detail = { orderDate: "", invoiceDate: "", earliestDTTM: "", quantity: "", unitPrice: "" };
    const sent = { stopNbr: "1", deliveryAttempt: "", weight: "", to: { schedule }, stopDetails: [detail] };
    const stop = normaliseStop(sent);
    expect(stop).toEqual({ stopNbr: "1", to: { schedule: {} }, stopDetails: [{}] });
    expect(normaliseStop({ stopNbr: "1", sealNbr: "", stopType: "" })).toEqual({
      ...{ stopNbr: "1", sealNbr: "", stopType: "" },
    });
  });

  it("is left out when it is a date of .NET that was never set", () => {
    const schedule = { timeFrom: "0001-01-01T00:00:00", timeTo: "0001-01-01T00:00:00Z" };
    expect(normaliseStop({ to: { schedule } })).toEqual({ to: { schedule: {} } });
    expect(canonicalUser({ userName: "u", dob: "0001-01-01T00:00:00+00:00" })).toEqual({ userName: "u" });
  });

  it("is an object without members when it is an empty list, as PHP writes it, and the other way round", () => {
    const lists = { comments: {}, stopDetails: {}, documents: {} };
    const stop = normaliseStop({ stopNbr: "1", to: { contact: [], address: [] }, markfor: [], ...lists });
    const empty = { comments: [], stopDetails: [], documents: [] };
    expect(stop).toEqual({ stopNbr: "1", to: { contact: {}, address: {} }, markfor: {}, ...empty });
    expect(validateStop(stop, "")).toEqual([]);
  });
});

describe("a date as a list, as Jackson writes it", () => {
  test.each([
    [[2026, 11, 5, 8, 0], "2026-11-05T08:00:00"],
    [[2026, 11, 5, 8, 30, 15], "2026-11-05T08:30:15"],
    [[2026, 11, 5, 8, 30, 15, 999_000_000], "2026-11-05T08:30:15"],
  ])("%j is %s", (timeFrom, expected) => {
    expect(normaliseStop({ to: { schedule: { timeFrom } } })).toEqual({
      to: { schedule: { timeFrom: expected } },
    });
  });

  test("is a day of three numbers", () => {
    expect(canonicalUser({ userName: "u", dob: [1990, 1, 2] })).toEqual({
      ...{ userName: "u", dob: "1990-01-02T00:00:00" },
    });
    expect(normaliseStop({ stopDetails: [{ orderDate: [2026, 11, 5] }] })).toEqual({
      stopDetails: [{ orderDate: "2026-11-05" }],
    });
  });

  test.each([
    [[2026, 11]],
    [[2026, 11, 5, 8]],
    [[2026, 13, 5, 8, 0]],
    [[2026, 11, 5, 8, 0.5]],
    [["2026", 11, 5]],
  ])("%j is refused as a date", (timeFrom) => {
    const faults = validateStop(normaliseStop({ stopNbr: "1", to: { schedule: { timeFrom } } }), "");
    expect(faults).toMatchObject([{ code: "badDate" }]);
  });

  test("is refused as a number, whose unit nobody can tell", () => {
    const schedule = { timeFrom: 1_793_865_600_000 };
    const [fault] = validateStop(normaliseStop({ stopNbr: "1", to: { schedule } }), "stops[0]");
    expect(fault).toMatchObject({ code: "badDate", path: "stops[0].to.schedule.timeFrom" });
    expect(fault?.message).toContain("WRITE_DATES_AS_TIMESTAMPS");
  });
});

describe("a number or code by which something is known", () => {
  it("loses blanks at both ends", () => {
    const detail = { productIdentifier: "\tP 1 ", product: " kept " };
    const sent = { stopNbr: " A 1\u00a0", sealNbr: " S1 ", reference1: "R1\n", stopDetails: [detail] };
    expect(normaliseStop(sent)).toEqual({
      ...{ stopNbr: "A 1", sealNbr: "S1", reference1: "R1" },
      stopDetails: [{ productIdentifier: "P 1", product: " kept " }],
    });
    expect(normaliseOrder({ orderNbr: " 4 " })).toEqual({ orderNbr: "4" });
  });

  it("is missing when it is nothing but blanks", () => {
    expect(validateStop(normaliseStop({ stopNbr: "  " }), "")).toMatchObject([{ code: "missing" }]);
  });
});

describe("the length of a text", () => {
  it("counts characters, not units of UTF-16", () => {
    const [box, note] = ["😀".repeat(20), "😀".repeat(500)];
    const comments = [{ commentDescription: note }];
    expect(validateStop({ stopNbr: box, sealNbr: box, comments }, "")).toEqual([]);
    const faults = validateStop({ stopNbr: `${box}x`, comments: [{ commentDescription: `${note}x` }] }, "");
    expect(faults.map(({ message }) => message)).toEqual([
      "stopNbr is 21 characters long, more than its maximum of 20. Shorten it.",
      "comments[0].commentDescription is 501 characters long, more than its maximum of 500. Shorten it.",
    ]);
    const password = "😀".repeat(4);
    expect(validateUser({ userName: "u", password }, "users[0]")).toMatchObject([{ code: "wrongType" }]);
  });
});

describe("amounts and coordinates", () => {
  test.each([
    ["totalCartons", -1],
    ["weight", "-0.5"],
    ["totalPrice", -0.01],
    ["deliveryAttempt", -1],
    ["stopGeofenceRadius", -200],
  ])("%s is not %j", (field, value) => {
    const [fault, ...others] = validateStop({ stopNbr: "1", [field]: value }, "stops[0]");
    expect(fault).toMatchObject({ code: "wrongType", path: `stops[0].${field}` });
    expect(fault?.message).toMatch(/0 or more/);
    expect(others).toEqual([]);
  });

  test.each([0, "0", "-0", "-0.00", "+1", "12 boxes", "1-2"])("a total can be %j", (totalCartons) => {
    expect(validateStop({ stopNbr: "1", totalCartons }, "")).toEqual([]);
  });

  test("a detail and a load are held to the same", () => {
    const detail = { quantity: -1, cartonContents: [{ qty: -1 }], confirmed: { confirmedQty: "-1" } };
    expect(validateStop({ stopNbr: "1", stopDetails: [detail] }, "").map(({ code }) => code)).toEqual([
      ...["wrongType", "wrongType", "wrongType"],
    ]);
    const loadHeader = { loadNbr: "1", prePlannedLoadDistance: -1, totalPallets: "-3" };
    expect(validateLoad({ loadHeader }, "")).toHaveLength(2);
  });

  test("a latitude is at most 90 and a longitude 180", () => {
    const address = { latitude: -90.1, longitude: 181 };
    expect(validateOrder({ orderNbr: "1", to: { address } }, "").map(({ path }) => path)).toEqual([
      ...["to.address.latitude", "to.address.longitude"],
    ]);
  });
});

describe("dates of users", () => {
  test.each(["dob", "licenseExpirationDttm"])("%s that is none is refused as a date", (field) => {
    for (const value of ["soon", "1990-02-30", 19_900_102, true]) {
      const faults = validateUser(canonicalUser({ userName: "u", [field]: value }), "users[0]");
      expect(faults).toMatchObject([{ code: "badDate", path: `users[0].${field}` }]);
    }
  });

  test("an instant is none: no zone stands beside it", () => {
    const user = canonicalUser({ userName: "u", dob: "1990-01-01T23:00:00Z" });
    expect(validateUser(user, "")).toMatchObject([{ code: "badDate" }]);
  });
});
