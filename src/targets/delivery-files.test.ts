import { describe, expect, test } from "vitest";
import { checkNames, isTemporaryName, temporaryNameOf } from "./delivery-files.ts";

const delivery = { id: "17", companyCode: "ACME" };

describe("a temporary name", () => {
  test("is the same at every attempt, and another for another delivery or company", () => {
    const name = temporaryNameOf(delivery, "a.xml");
    expect(temporaryNameOf({ ...delivery }, "a.xml")).toBe(name);
    expect(temporaryNameOf({ ...delivery, id: "18" }, "a.xml")).not.toBe(name);
    expect(temporaryNameOf({ ...delivery, companyCode: "BETA" }, "a.xml")).not.toBe(name);
  });

  test("is hidden, is no XML file, fits every file system, and is known as ours", () => {
    const name = temporaryNameOf(delivery, "n".repeat(200));
    expect(name).toMatch(/^\..*\.part$/);
    expect(name.length).toBeLessThanOrEqual(255);
    expect(isTemporaryName(name)).toBe(true);
  });

  test("is never that of a file which is delivered", () => {
    const files = [
      { name: temporaryNameOf(delivery, "a.xml"), contentType: "", read: async () => new Uint8Array() },
    ];
    expect(() => checkNames({ ...delivery, files })).toThrow("is not sent");
  });
});
