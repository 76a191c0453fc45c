import { readFileSync } from "node:fs";
import { XmlDocument, XsdValidator } from "libxml2-wasm";
import { afterAll, expect, test } from "vitest";
import type { Fault } from "../../lib/errors.ts";
import { type StopResponse, writeStopResponse } from "./stop-response.ts";

const schema = XmlDocument.fromBuffer(
  readFileSync(new URL("../../../xsd/stop-response.xsd", import.meta.url)),
);
const validator = XsdValidator.fromDoc(schema);
afterAll(() => {
  validator.dispose();
  schema.dispose();
});

/** The response's text, and what a parser reads from it, once it has passed the XSD. */
function valuesOf(response: StopResponse): { text: string; at: (path: string) => string | undefined } {
  const text = writeStopResponse(response);
  const document = XmlDocument.fromBuffer(Buffer.from(text));
  try {
    validator.validate(document);
    const paths = [
      "//DocumentID",
      "//Status",
      "//Error",
      "//Error/@Path",
      "//Error/@StopNbr",
      "//RecordsCreated",
    ];
    const values = new Map(paths.map((path) => [path, document.get(path)?.content]));
    return { text, at: (path) => values.get(path) };
  } finally {
    document.dispose();
  }
}

const counts = { created: 0, updated: 0, deleted: 0 };
const nasty = "\u0000\u0001&<>\"'\ud800\ufffe\r\n\tend";

test("success is status 10 with the counts and without errors", () => {
  const { text, at } = valuesOf({ documentId: "D-1", faults: [], created: 3, updated: 0, deleted: 0 });
  expect([at("//DocumentID"), at("//Status"), at("//RecordsCreated")]).toEqual(["D-1", "10", "3"]);
  expect(text).not.toContain("<Errors>");
});

const sha256 = "ab".repeat(32);
const ledger = "5c1e0f2a-0000-1111-2222-333344445555";
const receivedAt = Date.UTC(2026, 10, 5, 8, 0, 0, 123);

test.each([
  ["of a success", { documentId: "D-1", faults: [], created: 1, updated: 0, deleted: 0 }],
  ["of a refusal", { documentId: "D-1", faults: [{ code: "missing", message: "x" } as const], ...counts }],
])("a receipt %s says which file it answers", (_name, response) => {
  const { text } = valuesOf({ ...response, file: { sha256, receivedAt, ledger } });
  const root = `<StopResponse Sha256="${sha256}" Received="2026-11-05T08:00:00.123Z" Ledger="${ledger}">`;
  expect(text).toContain(`${root}\n  <DocumentID>D-1</DocumentID>`);
  expect(valuesOf({ ...response, file: { sha256: undefined, receivedAt, ledger } }).text).not.toContain(
    "Sha256",
  );
  expect(valuesOf(response).text).toContain("<StopResponse>");
});

test("a fault is status 99 with number, line, column, path and stop number", () => {
  const fault: Fault = {
    code: "xsdMismatch",
    message: "text",
    line: 12,
    column: 3,
    path: "/Stop/BOL",
    stopNbr: "A1",
  };
  const { text, at } = valuesOf({ faults: [fault], ...counts });
  expect(text).toContain(
    '<Error ErrorMsgID="951" Line="12" Column="3" Path="/Stop/BOL" StopNbr="A1">text</Error>',
  );
  expect([at("//DocumentID"), at("//Status")]).toEqual(["UNKNOWN", "99"]);
});

test("the five characters are escaped, and characters that XML forbids are left out", () => {
  const fault: Fault = { code: "missing", message: nasty, path: nasty, stopNbr: nasty };
  const { text, at } = valuesOf({ documentId: nasty, faults: [fault], ...counts });
  expect(text).toContain("&amp;&lt;&gt;&quot;&apos;");
  for (const path of ["//Error", "//Error/@Path", "//Error/@StopNbr"])
    expect(at(path)).toBe("&<>\"'\ufffd\r\n\tend");
});

test("at most 50 faults are written", () => {
  const faults = Array.from({ length: 80 }, (): Fault => ({ code: "missing", message: "x" }));
  const { text } = valuesOf({ faults, ...counts });
  expect(text.match(/<Error /g)).toHaveLength(50);
  expect(text).toContain("There are more faults: correct these 50 and send it again.</Error>\n  </Errors>");
  expect(valuesOf({ faults: faults.slice(0, 50), ...counts }).text).not.toContain("There are more");
});

test("an empty document id is UNKNOWN", () => {
  expect(valuesOf({ documentId: " \u0000", faults: [], ...counts }).at("//DocumentID")).toBe("UNKNOWN");
});

test("values that builders of XML are known to trip over come out as they went in", () => {
  const document = (value: string) => ({
    documentId: value,
    faults: [{ code: "missing", message: value, path: value, stopNbr: value } as const],
    ...counts,
  });
  for (const value of ["true", "]]>", "__proto__", "&amp;", "#text", "@Line", "0"]) {
    const { at } = valuesOf(document(value));
    for (const path of ["//DocumentID", "//Error", "//Error/@Path"]) expect(at(path)).toBe(value);
  }
  for (const value of ["", "  both ends \n", "\n\tx\r"]) {
    const { at } = valuesOf(document(value));
    for (const path of ["//Error", "//Error/@Path"]) expect(at(path)).toBe(value);
  }
});

test("a response keeps its form: declaration, two spaces an indent, no attribute that is not known", () => {
  const faults: Fault[] = [{ code: "missing", message: "x" }];
  expect(
    writeStopResponse({ documentId: "D", faults, ...counts }),
  ).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<StopResponse>
  <DocumentID>D</DocumentID>
  <Status>99</Status>
  <Errors>
    <Error ErrorMsgID="901">x</Error>
  </Errors>
  <Result>
    <RecordsCreated>0</RecordsCreated>
    <RecordsUpdated>0</RecordsUpdated>
    <RecordsDeleted>0</RecordsDeleted>
  </Result>
</StopResponse>
`);
});

test.each(["1001_20261105_080000", "DOCUMENT-ID", "a&b", "$&", "x y", "é"])(
  "the document id %s stands in the response as it is, with the counts of that response",
  (documentId) => {
    for (const created of [1, 2, 1]) {
      const { at } = valuesOf({ documentId, faults: [], created, updated: 0, deleted: 0 });
      expect([at("//DocumentID"), at("//Status"), at("//RecordsCreated")]).toEqual([
        documentId,
        "10",
        String(created),
      ]);
    }
  },
);
