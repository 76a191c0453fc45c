import { expect, test } from "vitest";
import { FileCounts } from "./present-files.ts";

test("files of each company are counted from coming to being filed away", () => {
  const counts = new FileCounts();
  for (const companyId of [1, 1, 2]) counts.came(companyId);
  counts.decided(1);
  expect([counts.waiting(1), counts.undecided(1), counts.total]).toEqual([2, 1, 3]);
  counts.left(1);
  expect([counts.waiting(1), counts.undecided(1), counts.total]).toEqual([1, 1, 2]);
  expect([counts.waiting(2), counts.undecided(2)]).toEqual([1, 1]);
  expect([counts.waiting(3), counts.undecided(3)]).toEqual([0, 0]);
});
