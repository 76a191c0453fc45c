import { expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { ArrivalFigures } from "./lanes/decision-figures.ts";
import type { Arrival } from "./places/inbox.ts";
import { createLocations } from "./places/locations.ts";
import { PresentFiles } from "./present-files.ts";
import type { AwaitedReceipts } from "./receipts/awaited-receipts.ts";

const nothing = () => undefined;
const noReceipts = {
  add: nothing,
  delete: nothing,
  gone: nothing,
  release: nothing,
} as unknown as AwaitedReceipts;

const path = "/state/companies/ACME/inbound/a1_20261105_080000.xml";
const name = "a1_20261105_080000.xml";

function presentFiles({ isSole = true } = {}): PresentFiles {
  return new PresentFiles({
    ...{ clock: systemClock, locations: createLocations("/state"), receipts: noReceipts, isSole },
    ...{ figures: new ArrivalFigures(), filesOfEarlierRun: { arrived: nothing } },
  });
}

/** An upload under `.again`, received at 1,000. */
const again: Arrival = {
  ...{ companyId: 1, name, channel: "sftp" as const, size: 1, receivedAt: 1_000 },
  path: "/state/companies/ACME/inbound/.again/0123456789ab-a1_20261105_080000.xml",
};

test.each([
  ["alone", true, 999],
  ["of several", false, 2_000],
] as const)(
  "a file without an entry that a start of a process %s finds is older than a later one of its name in `.again`",
  (_, isSole, receivedAt) => {
    const files = presentFiles({ isSole });
    const found: Arrival = { companyId: 1, name, path, channel: "recovered", size: 1, receivedAt: 2_000 };
    const later = files.fromArrival(again);
    expect(files.fromArrival(found).receivedAt).toBe(receivedAt);
    // Of another name, of another company, in `.again` itself, and one that comes now.
    expect(files.fromArrival({ ...found, name: `b${name}` }).receivedAt).toBe(2_000);
    expect(files.fromArrival({ ...found, companyId: 2 }).receivedAt).toBe(2_000);
    expect(files.fromArrival({ ...found, path: again.path }).receivedAt).toBe(2_000);
    expect(files.fromArrival({ ...found, channel: "folder" }).receivedAt).toBe(2_000);
    files.decided(later);
  },
);

test("a file of a name of which none waits in `.again` any more came when it came", () => {
  const files = presentFiles();
  files.decided(files.fromArrival(again));
  files.gone(files.fromArrival(again));
  const found: Arrival = { companyId: 1, name, path, channel: "recovered", size: 1, receivedAt: 2_000 };
  expect(files.fromArrival(found).receivedAt).toBe(2_000);
});

test("a path has a file in line from its arrival to its decision, and one to be moved from there until it is filed", () => {
  const files = presentFiles();
  const arrive = () => files.fromArrival({ companyId: 1, name, path, channel: "sftp", size: 1 });
  const standing = () => [files.isInLine(path), files.isBeingFiled(path)];
  expect(standing()).toEqual([false, false]);
  const first = arrive();
  expect(standing()).toEqual([true, false]);
  files.decided(first);
  expect(standing()).toEqual([false, true]);
  const second = arrive();
  expect(standing()).toEqual([true, true]);
  files.left(first);
  expect(standing()).toEqual([true, false]);
  files.decided(second);
  files.left(second);
  expect(standing()).toEqual([false, false]);
});
