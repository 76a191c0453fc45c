import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { maxLengthOf } from "../../src/domain/fields/field-limits.ts";
import { writeCompletionXsd, writeManifestXsd } from "./outgoing-schemas.ts";

test.each([
  ["stop-completion.xsd", writeCompletionXsd],
  ["export-manifest.xsd", writeManifestXsd],
])("xsd/%s is what the table of elements says (rewrite it with UPDATE_XSD=1)", (name, write) => {
  const file = new URL(`../../xsd/${name}`, import.meta.url);
  if (process.env["UPDATE_XSD"] === "1") writeFileSync(file, write());
  expect(readFileSync(file, "utf8")).toBe(write());
});

test("maximum lengths in the XSD are those of the fields, and what must be there is required", () => {
  const text = writeCompletionXsd();
  expect(text).toContain(
    `<xs:element name="ProNumber" type="Text${maxLengthOf("proNumber")}" minOccurs="0">`,
  );
  expect(text).toContain(`<xs:element name="StopNbr" type="Text${maxLengthOf("stopNbr")}">`);
  for (const name of ["Execution", "StopStatus", "TriggeredByEvent", "EventId", "EventName", "ReportedDTTM"])
    expect(text).toMatch(new RegExp(`<xs:element name="${name}" type="\\w+">`));
});

test("every element and every type is documented", () => {
  for (const text of [writeCompletionXsd(), writeManifestXsd()]) {
    const documented = text.match(/<xs:(element|attribute) [^>]*>\s*<xs:annotation>/g) ?? [];
    expect(documented).toHaveLength((text.match(/<xs:(element|attribute) /g) ?? []).length);
    expect(text.match(/<xs:simpleType name="\w+">\n {4}<xs:annotation>/g)).toHaveLength(
      (text.match(/<xs:simpleType /g) ?? []).length,
    );
    expect(text).not.toContain("<xs:documentation></xs:documentation>");
  }
});
