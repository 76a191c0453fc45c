import { describe, expect, it } from "vitest";
import { driverMarksOf, mergedProfile, type UserProfile } from "./user-profile.ts";

describe("the profile of a user", () => {
  it("keeps what is not sent again, and neither password nor roles", () => {
    const before: UserProfile = { firstName: "Ann", email: "a@x", city: "Ulm" };
    const sent = { userName: "ann", password: "secret-1", userRoles: [], email: "", city: "Bonn" };
    expect(mergedProfile(before, sent)).toEqual({
      firstName: "Ann",
      userName: "ann",
      email: "",
      city: "Bonn",
    });
  });
});

describe("what a driver is found by", () => {
  it.each([
    [{}, null],
    [{ firstName: " Ann ", lastName: "van  der Berg" }, "Ann van der Berg"],
    [{ lastName: "Berg" }, "Berg"],
    [{ firstName: "", lastName: null }, null],
  ] as const)("of the names in %j is %j", (profile, fullName) => {
    expect(driverMarksOf(profile).fullName).toBe(fullName);
  });

  it.each([
    [{}, []],
    [{ assignedGroups: null, accountNumber: null }, []],
    [{ assignedGroups: "A, B;C ,,A" }, ["A", "B", "C"]],
    [{ assignedGroups: ["A", " B ", ""], accountNumber: 7 }, ["A", "B", "7"]],
    [{ assignedGroups: "A", accountNumber: "A" }, ["A"]],
  ])("of the groups in %j are the carriers %j", (profile, carrierCodes) => {
    expect(driverMarksOf(profile).carrierCodes).toEqual(carrierCodes);
  });

  it("is e-mail and licence as text, or nothing when they are empty", () => {
    expect(driverMarksOf({ email: " a@x ", cdlNumber: 123 })).toMatchObject({
      email: "a@x",
      cdlNumber: "123",
    });
    expect(driverMarksOf({ email: "", cdlNumber: " " })).toMatchObject({ email: null, cdlNumber: null });
  });
});
