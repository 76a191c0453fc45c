import { Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { createEntityCheck } from "./entity-check.ts";
import { identifier, textOrNumber } from "./fields.ts";

const check = createEntityCheck(
  Type.Object({
    stopNbr: Type.Optional(identifier("stopNbr")),
    partnerCode: Type.Optional(identifier("carrierCode")),
    reasonCode: Type.Optional(identifier("reasonCode")),
    proNumber: Type.Optional(textOrNumber("proNumber")),
    bol: Type.Optional(textOrNumber("bol")),
  }),
);

describe("a number by which something is found", () => {
  it.each([
    "A/B",
    "A\\B",
    "A\u0000",
    "A\nB",
    "\u007f",
    "A\u0085",
    ".",
    "..",
    " ",
    " A",
    "A ",
    "\u00a0A",
    "A\u3000",
  ])("is not %j", (stopNbr) => {
    const [fault, ...others] = check({ stopNbr }, "stops[0]");
    expect(fault).toMatchObject({ code: "wrongType", path: "stops[0].stopNbr" });
    expect(fault?.message).toMatch(/^stops\[0\]\.stopNbr has the value ".*"\. Send a number with no \/, /);
    expect(others).toEqual([]);
  });

  it.each(["A B", "...", ".A", "1.2", "Ä-1_(x)#?%&", "😀", "x".repeat(20)])("can be %j", (stopNbr) => {
    expect(check({ stopNbr }, "")).toEqual([]);
  });

  it("is missing when it is empty, and too long beyond its maximum whatever it is made of", () => {
    expect(check({ stopNbr: "" }, "")[0]?.code).toBe("missing");
    expect(check({ stopNbr: "/".repeat(21) }, "")[0]?.code).toBe("tooLong");
  });

  it("has the same form as a code, while a reason has none", () => {
    expect(check({ partnerCode: "A/B" }, "")[0]?.code).toBe("wrongType");
    expect(check({ reasonCode: "N/A" }, "")).toEqual([]);
  });
});

describe("a field that is a text or a number", () => {
  it.each([
    [-1_234_567_890_123, 14],
    [-1_234_567_890, 11],
    [12_345_678_901, 11],
    [0.123_456_789_01, 13],
    [1e300, 301],
  ])("of 10 characters is not %d", (proNumber, length) => {
    const message = `proNumber is ${length} characters long, more than its maximum of 10. Shorten it.`;
    expect(check({ proNumber }, "")).toEqual([{ code: "tooLong", path: "proNumber", message }]);
  });

  it.each([-123_456_789, 1_234_567_890, 1234.56789, 0, -0.5, "-123456789"])(
    "of 10 characters can be %j",
    (proNumber) => {
      expect(check({ proNumber }, "")).toEqual([]);
    },
  );

  it("with room for any number takes any", () => {
    expect(check({ bol: -1e300 }, "")).toEqual([]);
    expect(check({ bol: true }, "")[0]?.message).toBe("bol has the value true. Send text or a number.");
    expect(check({ proNumber: true }, "")[0]?.message).toBe(
      "proNumber has the value true. Send text or a number.",
    );
  });
});
