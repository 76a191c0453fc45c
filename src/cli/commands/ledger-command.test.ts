import { expect, test } from "vitest";
import { reportLines } from "./ledger-command.ts";

const report = {
  accounts: [],
  entries: 2,
  bytes: 2,
  removed: 2,
  pruned: 2,
  withoutBytes: 2,
  arriving: 2,
  atNextStart: 2,
  unproved: [],
  discrepancyCount: 2,
  discrepancies: [],
};
const one = { entries: 1, bytes: 1, removed: 1, pruned: 1, withoutBytes: 1, arriving: 1, atNextStart: 1 };

test("the report speaks of one entry, one file and one discrepancy as of one", () => {
  const text = reportLines({ ...report, ...one, discrepancyCount: 1 }).join("\n");
  expect(text).not.toMatch(/\b1 (entries|files|bytes|discrepancies)/);
  expect(text).toContain("1 discrepancy in 1 entry, 1 byte hashed:");
  expect(text).toContain("1 file that the next start takes: no daemon runs");
});

test("the report speaks of several, and of none", () => {
  const text = reportLines(report).join("\n");
  for (const words of ["2 discrepancies in 2 entries, 2 bytes", "2 files about to be taken"])
    expect(text).toContain(words);
  const right = reportLines({ ...report, discrepancyCount: 0, arriving: 0, atNextStart: 0 }).join("\n");
  expect(right).toContain("The ledger is correct: 2 entries, 2 bytes hashed.");
  expect(right).not.toContain("files");
});

test("the report says what was not proved, and does not call the ledger correct without that", () => {
  const told = reportLines({ ...report, discrepancyCount: 0, unproved: ["whether it is all"] }).join("\n");
  expect(told).toContain("The ledger is correct as far as it was proved: 2 entries");
  expect(told).toContain("Not proved: whether it is all.");
});
