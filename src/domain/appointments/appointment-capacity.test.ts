import { describe, expect, it } from "vitest";
import {
  addShares,
  lackingFor,
  maxAmount,
  noShare,
  oneAppointment,
  type Share,
  subtractShares,
  thousandthsOf,
} from "./appointment-capacity.ts";

describe("an amount in thousandths", () => {
  it.each([
    [0, 0],
    [1, 1_000],
    ["3", 3_000],
    [" 2.5 ", 2_500],
    ["+.5", 500],
    ["7.", 7_000],
    [0.1, 100],
    [1.005, 1_005],
    [2.675, 2_675],
    [0.0001, 1],
    ["12.3456", 12_346],
    [maxAmount, maxAmount * 1_000],
  ])("of %j is %j", (amount, expected) => expect(thousandthsOf(amount)).toBe(expected));

  it.each([
    -1,
    "-1",
    -0.001,
    "",
    " ",
    "1e3",
    "0x10",
    "1,5",
    "ten",
    Number.NaN,
    Infinity,
    maxAmount + 1,
    null,
    true,
    [],
  ])("of %j there is none", (amount) => expect(thousandthsOf(amount)).toBeUndefined());
});

const share = (change: Partial<Share>): Share => ({ ...oneAppointment, ...change });

describe("what is lacking", () => {
  it.each([
    [{ appointments: 1 }, noShare, oneAppointment, []],
    [{ appointments: 1 }, oneAppointment, oneAppointment, ["appointments"]],
    [{ appointments: 0 }, noShare, oneAppointment, ["appointments"]],
    [{ quantity: 5 }, share({ quantity: 2_000 }), share({ quantity: 3_000 }), []],
    [{ quantity: 5 }, share({ quantity: 2_000 }), share({ quantity: 3_001 }), ["quantity"]],
    // Each that is configured must hold; what is not configured is not limited.
    [{ quantity: 5, weight: 10 }, noShare, share({ quantity: 1_000, weight: 11_000 }), ["weight"]],
    [
      { weight: 1, volume: 1, serviceMinutes: 1, quantity: 1 },
      noShare,
      share({ weight: 2_000, volume: 2_000, serviceMinutes: 2_000, quantity: 2_000 }),
      ["quantity", "weight", "volume", "serviceMinutes"],
    ],
    [{ volume: 5 }, noShare, share({ weight: 9_000_000 }), []],
    // The configuration has come down below what is in use.
    [{ appointments: 1 }, share({ appointments: 3_000 }), oneAppointment, ["appointments"]],
  ])("in %j beside %j for %j is %j", (capacity, used, wanted, lacking) => {
    expect(lackingFor(capacity, used, wanted)).toEqual(lacking);
  });

  it("is nothing any more once the same has been given back, whatever the fractions", () => {
    const tenth = share({ weight: thousandthsOf(0.1) ?? 0 });
    let used = noShare;
    for (let time = 0; time < 1_000; time += 1) used = addShares(used, tenth);
    expect(lackingFor({ weight: 100 }, used, tenth)).toEqual(["weight"]);
    for (let time = 0; time < 1_000; time += 1) used = subtractShares(used, tenth);
    expect(used).toEqual(noShare);
  });
});
