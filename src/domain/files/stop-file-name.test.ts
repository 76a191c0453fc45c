import { describe, expect, it } from "vitest";
import {
  cutBaseOf,
  isReceiptName,
  nameOfSharers,
  namesWithReceiptOf,
  nameWithMark,
  parseStopFileName,
  receiptNameOf,
} from "./stop-file-name.ts";

describe("the name of a stop file", () => {
  it.each([
    ["4711_20261105_080000.xml", "4711", 20261105080000],
    ["a.b-c_d_20240229_235959.xml", "a.b-c_d", 20240229235959],
    ["12345678901234567890_20261105_000000.xml", "12345678901234567890", 20261105000000],
  ])("%s is taken apart", (name, stopNbr, nameTime) => {
    expect(parseStopFileName(name)).toEqual({ kind: "named", stopNbr, nameTime });
  });

  it.each([
    ["4711_20261105_080000.XML", "lower case"],
    ["A4711_20261105_080000.xml", "lower case"],
    ["4711_20230229_080000.xml", "real date"],
    ["4711_20261105_240000.xml", "real date"],
    ["4711_20261305_080000.xml", "real date"],
    ["4711_2026115_080000.xml", "_CCYYMMDD_HHMMSS"],
    ["_20261105_080000.xml", "_CCYYMMDD_HHMMSS"],
    ["47 11_20261105_080000.xml", "1 to 20 characters"],
    ["123456789012345678901_20261105_080000.xml", "1 to 20 characters"],
    ["4711.txt", "does not end in .xml"],
  ])("%s is refused, with the reason and the form", (name, why) => {
    const parsed = parseStopFileName(name);
    expect(parsed.kind).toBe("wrong");
    expect(JSON.stringify(parsed)).toContain(why);
    expect(JSON.stringify(parsed)).toContain("<stopnumber>_CCYYMMDD_HHMMSS.xml");
  });

  it("gives the names that belong to it", () => {
    expect(receiptNameOf("4711_20261105_080000.xml")).toBe("4711_20261105_080000.receipt.xml");
    expect(nameWithMark("4711_20261105_080000.xml", "12")).toBe("4711_20261105_080000.12.xml");
    expect(nameWithMark("notes.txt", "12")).toBe("notes.txt.12");
  });

  it.each([
    ["a".repeat(251), "a".repeat(250)],
    ["ä".repeat(125), `b${"ä".repeat(125)}`],
    ["😀".repeat(62), `${"😀".repeat(61)}😁`],
  ])("gives names of at most 255 bytes to %s, cut between characters and distinct", (one, other) => {
    const names = [one, other].flatMap((base) => {
      const file = `${base}.xml`.slice(0, 255);
      return [receiptNameOf(file), receiptNameOf(nameWithMark(file, "12")), nameWithMark(file, "1234567890")];
    });
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      expect(name).not.toContain("\ufffd");
      expect(name.endsWith(".receipt.xml") || name.endsWith(".1234567890.xml")).toBe(true);
    }
  });

  it("cuts no name that fits", () => {
    const fits = "a".repeat(243);
    expect(receiptNameOf(`${fits}.xml`)).toBe(`${fits}.receipt.xml`);
    const cut = receiptNameOf(`${fits}a.xml`);
    expect(cut).toMatch(/^a{230}~[0-9a-f]{12}\.receipt\.xml$/);
    expect(cutBaseOf(cut)).toBe("a".repeat(230));
  });

  it.each(["4711_20261105_080000.xml", "a.receipt.xml", `${"a".repeat(243)}.xml`, ".xml"])(
    "%s stands for all names with its receipt, and is the same for each of them",
    (name) => {
      const sharers = namesWithReceiptOf(name);
      expect(sharers.length).toBeGreaterThan(1);
      expect(new Set(sharers.map(nameOfSharers))).toEqual(new Set([name]));
    },
  );

  it("is another one where the receipt is another, also when that has a cut name", () => {
    const names = ["a", "a.receipt", "a.receipt.xml.xml", `${"a".repeat(244)}.xml`, `${"a".repeat(245)}.xml`];
    expect(new Set(names.map(nameOfSharers)).size).toBe(names.length);
    const cut = receiptNameOf(names.at(-1) ?? "");
    expect(nameOfSharers(names.at(-1) ?? "")).toBe(nameOfSharers(cut.replace(".receipt.xml", "")));
  });

  it.each([
    ["a.receipt.xml", true],
    ["a.RECEIPT.Xml", true],
    ["a.receipt.12.xml", false],
    ["a.receipt", false],
  ])("%s may be the name of a receipt: %s", (name, may) => expect(isReceiptName(name)).toBe(may));
});
