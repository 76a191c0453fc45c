import { expect, test } from "vitest";
import type { ExportRecord } from "../store/outbound/exports.ts";
import { exportNames } from "./export-runs.ts";

const made: ExportRecord = {
  ...{ id: 3, companyId: 1, companyCode: "ACME", name: "nightly", sequenceNbr: 42, form: "document" },
  ...{ afterCompletionId: 0, lastCompletionId: 9, windowBegin: 0, windowEnd: 1, dueAt: null },
  createdAt: Date.UTC(2026, 10, 5, 23, 59),
};

test("a document is named after company, export and number, and its manifest after it", () => {
  expect(exportNames(made)).toEqual({
    ...{ delivery: "acme_nightly_000042.xml", manifest: "acme_nightly_000042.manifest.xml" },
  });
});

test("single files lie in a folder of the UTC day and the number, with a manifest of its own", () => {
  const name = "nightly-2026-11-05-000042";
  expect(exportNames({ ...made, form: "files" })).toEqual({
    ...{ delivery: name, directory: name, manifest: "manifest.xml" },
  });
});
