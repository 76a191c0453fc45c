import { readFileSync } from "node:fs";
import { XmlDocument, XsdValidator } from "libxml2-wasm";
import { expect, test } from "vitest";
import { RandomCompletions } from "../../../test/fixtures/random-completion.ts";
import type { StopCompletion } from "../../domain/outbound/stop-completion.ts";
import { renderExportDocument } from "./export-document.ts";
import { type ExportHead, renderExportManifest } from "./export-manifest.ts";
import { renderStopCompletion } from "./stop-completion-writer.ts";

const head: ExportHead = {
  companyCode: "ACME",
  name: "nightly & more",
  sequenceNbr: 7,
  window: {
    begin: 10,
    end: 13,
    dueAt: 1_793_953_800_000,
    createdAt: 1_793_953_801_234,
  },
  count: 3,
};

/** The text of what is at the paths, once the document has passed the schema. */
function read(text: string, schemaName: string, paths: readonly string[]): (string | undefined)[] {
  const schema = XmlDocument.fromBuffer(readFileSync(new URL(`../../../xsd/${schemaName}`, import.meta.url)));
  const validator = XsdValidator.fromDoc(schema);
  const document = XmlDocument.fromBuffer(Buffer.from(text));
  try {
    validator.validate(document);
    return paths.map((path) => document.get(path)?.content);
  } finally {
    document.dispose();
    validator.dispose();
    schema.dispose();
  }
}

function completions(count: number): StopCompletion[] {
  const random = new RandomCompletions(3);
  return Array.from({ length: count }, () => random.next());
}

async function write(exported: ExportHead, stops: readonly StopCompletion[]): Promise<string> {
  let text = "";
  const completions = stops.map((completion) => ({ completion }));
  for await (const piece of renderExportDocument({ head: exported, completions })) text += piece;
  return text;
}

test("a document of three stops obeys the schema, and has their files in it", async () => {
  const stops = completions(3);
  const text = await write(head, stops);
  expect(
    read(text, "stop-completion.xsd", [
      "/StopCompletions/Export/ExportName",
      "/StopCompletions/Export/DueAt",
      "/StopCompletions/Export/CreatedAt",
      "/StopCompletions/StopCompletion[3]/StopNbr",
    ]),
  ).toEqual([
    ...["nightly & more", "2026-11-06T08:30:00Z", "2026-11-06T08:30:01Z"],
    stops[2]?.stop.stopNbr.replaceAll("\uffff", "\ufffd").toWellFormed(),
  ]);
  const unindented = text.replaceAll(/^ +/gm, "");
  for (const stop of stops) {
    const file = (await renderStopCompletion(stop, { companyCode: "ACME" })).replaceAll(/^ +/gm, "");
    expect(unindented).toContain(file.slice(file.indexOf("<StopCompletion>")));
  }
  expect(await write(head, completions(3))).toBe(text);
});

test("a window without completions gives a document without stops", async () => {
  const text = await write({ ...head, count: 0 }, []);
  expect(read(text, "stop-completion.xsd", ["//CompletionCount", "//StopCompletion"])).toEqual([
    "0",
    undefined,
  ]);
});

test("a document that would not hold what its head says is never ended", async () => {
  await expect(write(head, completions(2))).rejects.toThrow("an export of 3 completions has been given 2");
});

test("one piece at a time: no stop is asked for before the one before it is taken", async () => {
  let asked = 0;
  function* source() {
    for (const completion of completions(3)) {
      asked += 1;
      yield { completion };
    }
  }
  const pieces = renderExportDocument({ head, completions: source() });
  await pieces.next();
  expect(asked).toBe(0);
  await pieces.next();
  expect(asked).toBe(1);
});

test("contents are embedded for those completions that say so", async () => {
  const [stop] = completions(1);
  if (stop === undefined) throw new Error("no stop");
  const reference = "6f1c2a90-3b7e-8d41-9c55-0a1b2c3d4e5f";
  const events = [{ eventId: 7014, recordedAt: 0, documents: [{ reference }] }];
  const completion = { ...stop, events, execution: {} };
  const readDocument = async () => Buffer.from("abc");
  let text = "";
  const both = [{ completion }, { completion, readDocument }];
  for await (const piece of renderExportDocument({ head: { ...head, count: 2 }, completions: both }))
    text += piece;
  const [, first, second] = text.split("<StopCompletion>");
  expect([first?.includes("YWJj"), second?.includes("YWJj")]).toEqual([false, true]);
});

const file = { name: "a_20261105_080000.xml", sha256: "0f".repeat(32), bytes: 512 };

test("a manifest obeys its schema and lists its files in their order", () => {
  const files = [
    { ...file, stopNbr: "A<1>" },
    { ...file, name: "b_20261105_080000.xml" },
  ];
  const text = renderExportManifest({ ...head, files });
  expect(
    read(text, "export-manifest.xsd", [
      "/ExportManifest/Export/SequenceNbr",
      "/ExportManifest/Files/File[1]/StopNbr",
      "/ExportManifest/Files/File[1]/Bytes",
      "/ExportManifest/Files/File[2]/FileName",
      "/ExportManifest/Files/File[2]/Sha256",
      "/ExportManifest/Files/File[2]/StopNbr",
    ]),
  ).toEqual(["7", "A<1>", "512", "b_20261105_080000.xml", file.sha256, undefined]);
});

test.each([
  ["asked for by hand", { dueAt: null, createdAt: 0 }],
  ["without a word of when it was due", { createdAt: 0 }],
])("a manifest of an empty export that was %s has no files and no due time", (_, times) => {
  const window = { begin: 13, end: 13, ...times };
  const text = renderExportManifest({ ...head, window, count: 0, files: [] });
  expect(read(text, "export-manifest.xsd", ["//Files", "//DueAt", "//CompletionCount"])).toEqual([
    undefined,
    undefined,
    "0",
  ]);
});
