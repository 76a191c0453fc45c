import { expect, test } from "vitest";
import { CompanyShares } from "./company-shares.ts";
import { minuteMs } from "./durations.ts";

function setUp(places: number) {
  const time = { now: 1_000_000 };
  const shares = new CompanyShares({ now: () => time.now }, places);
  const take = (companyCode: string) => {
    if (!shares.mayHaveAnother(companyCode)) return false;
    shares.took(companyCode);
    return true;
  };
  return { time, shares, take };
}

test("a company that is alone may hold all places", () => {
  const { shares, take } = setUp(2);
  shares.came("A");
  expect([take("A"), take("A"), take("A")]).toEqual([true, true, false]);
});

test("one that is not alone leaves one place to others, until they have gone for ten minutes", () => {
  const { shares, take, time } = setUp(3);
  shares.came("B");
  shares.came("A");
  expect([take("A"), take("A"), take("A")]).toEqual([true, true, false]);
  expect(take("B")).toBe(true);
  shares.gaveBack("B");
  time.now += 10 * minuteMs;
  expect(take("A")).toBe(true);
});

test("each may have one, even when there is only one", () => {
  const { shares, take } = setUp(1);
  shares.came("A");
  shares.came("B");
  expect([take("A"), take("A")]).toEqual([true, false]);
  shares.gaveBack("A");
  expect(take("B")).toBe(true);
});

test("companies that have gone are forgotten when there are many", () => {
  const { shares, take, time } = setUp(2);
  for (let index = 0; index < 1_000; index += 1) {
    shares.came(`C${index}`);
    time.now += minuteMs;
  }
  shares.came("A");
  expect([take("A"), take("A")]).toEqual([true, false]);
  time.now += 10 * minuteMs;
  expect(take("A")).toBe(true);
});
