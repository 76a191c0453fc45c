import { describe, expect, test } from "vitest";
import { readStopDocument } from "./read-stop-document.ts";

function document(stopNbr: string, functionCode = "01"): Buffer {
  return Buffer.from(
    `<Stops>\n<Stop>\n<Function>${functionCode}</Function>\n<StopNbr>${stopNbr}</StopNbr>\n</Stop>\n</Stops>`,
  );
}

describe("the number of a stop in XML", () => {
  test.each([
    ["A/B", "01"],
    ["A\\B", "01"],
    [".", "03"],
    ["..", "02"],
    ["a&#x7f;", "01"],
    ["&#xa0;A", "01"],
    ["A/B", "02"],
  ])("is not %j with the function %s: refused with the reason that JSON has", (stopNbr, functionCode) => {
    const outcome = readStopDocument(document(stopNbr, functionCode));
    expect(outcome).toMatchObject({
      kind: "refused",
      faults: [{ code: "wrongType", path: "/Stops/Stop[1]/StopNbr", line: 4 }],
    });
    expect(JSON.stringify(outcome)).toContain("expected a number with no /,");
  });

  test.each([" A B\n", "...", "1.2", "x".repeat(20)])("can be %j", (stopNbr) => {
    const outcome = readStopDocument(document(stopNbr));
    expect(outcome).toMatchObject({
      kind: "read",
      document: { instructions: [{ stopNbr: stopNbr.trim() }] },
    });
  });

  test("has other faults for being empty or too long", () => {
    for (const stopNbr of ["", " ", "x".repeat(21)])
      expect(readStopDocument(document(stopNbr))).toMatchObject({
        kind: "refused",
        faults: [{ code: "xsdMismatch" }],
      });
  });
});
