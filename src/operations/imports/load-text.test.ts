import { expect, test } from "vitest";
import { createImportThreads } from "./import-threads.ts";
import { loadText, readLoadText } from "./load-text.ts";

const loadHeader = { loadNbr: "L1", originName: "two\nlines" };

test("a load is read as it was kept, whatever stands in its texts", async () => {
  const stops = Array.from({ length: 250 }, (_, index) => ({ stopNbr: `N${index}`, bol: "\r\n\u2028" }));
  const load = { loadHeader, loadAssignment: { carrierCode: "C1" }, stops };
  expect(await readLoadText(loadText(load))).toEqual(load);
  expect(loadText(load).split("\n")).toHaveLength(251);
});

test("a load without stops has one line, and no stops afterwards", async () => {
  expect(loadText({ loadHeader })).toBe(JSON.stringify({ loadHeader }));
  expect(await readLoadText(loadText({ loadHeader, stops: [] }))).toEqual({ loadHeader });
});

test("a load that an earlier version has kept is read with its stops", async () => {
  const load = { loadHeader, stops: [{ stopNbr: "1" }, { stopNbr: "2" }] };
  expect(await readLoadText(JSON.stringify(load))).toEqual(load);
});

test("a large load in one line is brought into lines by a reader thread", async () => {
  const readers = createImportThreads({ maxBodyBytes: () => 20_000_000 });
  await readers.start(new AbortController().signal);
  const stops = Array.from({ length: 20_000 }, (_, index) => ({ stopNbr: `N${index}`, bol: "ä\n\u2028" }));
  const load = { loadHeader, stops };
  const asked: string[] = [];
  const lines = {
    loadLines(text: string, companyCode: string) {
      asked.push(companyCode);
      return readers.loadLines(text, companyCode);
    },
  };
  expect(await readLoadText(JSON.stringify(load), { lines, companyId: 7 })).toEqual(load);
  expect(await readLoadText(loadText(load), { lines, companyId: 7 })).toEqual(load);
  expect(asked).toEqual(["company 7"]);
  await readers.stop(AbortSignal.timeout(10_000));
});
