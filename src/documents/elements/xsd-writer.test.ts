import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { maxLengthOf } from "../../domain/fields/field-limits.ts";
import { writeStopXsd } from "./xsd-writer.ts";

const file = new URL("../../../xsd/stop.xsd", import.meta.url);

test("xsd/stop.xsd is what the table of elements says (rewrite it with UPDATE_XSD=1)", () => {
  const text = writeStopXsd();
  if (process.env["UPDATE_XSD"] === "1") writeFileSync(file, text);
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("maximum lengths in the XSD are those of the fields", () => {
  const text = writeStopXsd();
  expect(text).toContain(`<xs:element name="ProNumber" type="Text${maxLengthOf("proNumber")}"`);
  expect(text).toContain(`<xs:element name="StopNbr" type="Identifier${maxLengthOf("stopNbr")}"`);
  expect(text).toContain('<xs:element name="ProductIdentifier" type="Text50"');
});
