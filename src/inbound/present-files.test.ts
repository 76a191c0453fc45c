import { expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { ArrivalFigures } from "./lanes/decision-figures.ts";
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

function presentFiles(): PresentFiles {
  return new PresentFiles({
    ...{ clock: systemClock, locations: createLocations("/state"), receipts: noReceipts },
    ...{ figures: new ArrivalFigures(), filesOfEarlierRun: { arrived: nothing } },
  });
}

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
