import { expect, test } from "vitest";
import { cpuRatio } from "../../test/support/cpu-time.ts";
import { FileCounts } from "./present-files.ts";

test("files of each company are counted from coming to being filed away", () => {
  const counts = new FileCounts();
  const ofCompany = (companyId: number) => ({ companyId, receivedAt: 1 });
  for (const companyId of [1, 1, 2]) counts.came(ofCompany(companyId));
  counts.decided(ofCompany(1));
  expect([counts.waiting(1), counts.undecided(1), counts.total]).toEqual([2, 1, 3]);
  counts.left(1);
  expect([counts.waiting(1), counts.undecided(1), counts.total]).toEqual([1, 1, 2]);
  expect([counts.waiting(2), counts.undecided(2)]).toEqual([1, 1]);
  expect([counts.waiting(3), counts.undecided(3)]).toEqual([0, 0]);
});

test("the file that waits longest is known to a second; one that is retried waits since its retry", () => {
  const counts = new FileCounts();
  const old = { companyId: 1, receivedAt: 7_900 };
  const retried = { companyId: 1, receivedAt: 1_000, retriedAt: 20_100 };
  for (const file of [retried, old, { ...old, companyId: 2, receivedAt: 5_000 }]) counts.came(file);
  expect([counts.undecidedSince(1), counts.undecidedSince(2)]).toEqual([7_000, 5_000]);
  counts.decided(old);
  expect(counts.undecidedSince(1)).toBe(20_000);
  counts.decided(retried);
  expect([counts.undecidedSince(1), counts.undecidedSince(3)]).toEqual([undefined, undefined]);
});

test("how long the oldest waits costs no more with 100,000 files in line than with a thousand", () => {
  const looking = (files: number) => {
    const counts = new FileCounts();
    for (let nth = 0; nth < files; nth += 1) counts.came({ companyId: 1, receivedAt: nth % 10_000 });
    return () => {
      for (let look = 0; look < 100_000; look += 1) counts.undecidedSince(1);
    };
  };
  expect(cpuRatio(looking(100_000), looking(1_000))).toBeLessThan(10);
});
