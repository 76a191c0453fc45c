import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseStopFileName } from "../../src/domain/files/stop-file-name.ts";
import { validateStop } from "../../src/domain/stop/stop.ts";
import { allElementNames, fullStop } from "../../test/fixtures/stop-xml/full-stop.ts";
import { readStopDocument } from "../../src/documents/reading/read-stop-document.ts";
import { asStop } from "../../src/documents/reading/stop-reader.ts";
import { writeStopDocument } from "./stop-writer.ts";

const samples = new URL("../../config/samples/", import.meta.url);
const sampleNames = readdirSync(samples).filter((name) => name.endsWith(".xml"));

test("every element of the table is written for a stop that fills it", () => {
  const text = writeStopDocument({ instructions: [{ function: "01", stop: asStop(fullStop()) }] });
  for (const name of allElementNames()) expect(text).toMatch(new RegExp(`<${name}[ >]`));
});

test("a stop that fills every element passes the check of the JSON form", () => {
  expect(validateStop(fullStop(), "stops[0]")).toEqual([]);
});

test("several stops become a Stops document and are read back", () => {
  const instructions = [
    { function: "03", stop: { stopNbr: "1", stopAssignment: { carrierCode: "" } } },
    { function: "02", stop: { stopNbr: "2" } },
  ] as const;
  const outcome = readStopDocument(
    Buffer.from(writeStopDocument({ documentId: "D<1>", companyCode: "C", instructions })),
  );
  expect(outcome).toMatchObject({
    kind: "read",
    document: { documentId: "D<1>", companyCode: "C", instructions },
  });
});

test("characters that XML cannot carry are left out, and all others survive", () => {
  const stop = {
    stopNbr: "1",
    bol: "a\u0000b\u001fc\ud800d\u{1f600}\r\n\t<&>\"'",
    weight: "1",
    weightUOM: "\r\n\t<&>\"'",
  };
  const outcome = readStopDocument(
    Buffer.from(writeStopDocument({ instructions: [{ function: "01", stop }] })),
  );
  const expected = { ...stop, bol: "abc\ufffdd\u{1f600}\r\n\t<&>\"'" };
  expect(outcome).toMatchObject({ document: { instructions: [{ stop: expected }] } });
});

test("empty lists, empty items and texts that builders of XML are known to trip over survive", () => {
  const stop = {
    stopNbr: "1",
    bol: "]]>",
    profile: " ]]> ",
    reference1: "",
    weight: "1",
    weightUOM: "true",
    volumeUOM: "l\nx",
    comments: [{}, { commentType: "true" }, { commentDescription: "  " }],
    customAttributes: [],
    stopDetails: [{}],
  };
  const outcome = readStopDocument(
    Buffer.from(writeStopDocument({ instructions: [{ function: "01", stop }] })),
  );
  const comments = [
    { commentDescription: "" },
    { commentType: "true", commentDescription: "" },
    { commentDescription: "  " },
  ];
  expect(outcome).toMatchObject({ document: { instructions: [{ stop: { ...stop, comments } }] } });
});

test("values that an element cannot say are left out, so that the document obeys the XSD", () => {
  const stop = { stopNbr: "1", stopType: "XX", weight: "heavy", to: { address: { latitude: "" as const } } };
  const outcome = readStopDocument(
    Buffer.from(writeStopDocument({ instructions: [{ function: "01", stop }] })),
  );
  expect(outcome).toMatchObject({ kind: "read", document: { instructions: [{ stop: { stopNbr: "1" } }] } });
});

test.each(sampleNames)("sample %s is valid, and its name carries the number of its first stop", (name) => {
  const outcome = readStopDocument(readFileSync(new URL(name, samples)));
  expect(outcome).toMatchObject({ kind: "read" });
  expect(parseStopFileName(name).kind).toBe("named");
  if (outcome.kind === "read")
    expect(name.split("_")[0]).toBe(outcome.document.instructions[0]?.stopNbr.toLowerCase());
});

const fullSample = new URL("1007_20261105_080500.xml", samples);

/** The sample with the elements of Stop that it lacks, as a stop that fills every element has them. */
function completed(sample: string): string {
  const full = writeStopDocument({ instructions: [{ function: "01", stop: asStop(fullStop()) }] });
  const missing = allElementNames().filter((name) => !sample.includes(`<${name}`));
  const lines = full.split("\n").filter((line) => missing.some((name) => line.startsWith(`  <${name}>`)));
  return sample.replace("</Stop>", [...lines, "</Stop>"].join("\n"));
}

test("the full sample shows every element of the table (complete it with UPDATE_SAMPLES=1)", () => {
  const text = readFileSync(fullSample, "utf8");
  const isUpdate = process.env["UPDATE_SAMPLES"] === "1";
  if (isUpdate) writeFileSync(fullSample, completed(text));
  const shown = isUpdate ? completed(text) : text;
  expect(allElementNames().filter((name) => !shown.includes(`<${name}`))).toEqual([]);
});
