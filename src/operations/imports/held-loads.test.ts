import { expect, test } from "vitest";
import { LoadNumberSet, numbersOf } from "./held-loads.ts";

const load = (loadNbr: string, ...stopNbrs: string[]) =>
  numbersOf(1, loadNbr, { loadHeader: { loadNbr }, stops: stopNbrs.map((stopNbr) => ({ stopNbr })) });

test("what waits for a held load is its number and those of its stops, in its company", () => {
  const held = new LoadNumberSet();
  expect(held.has(load("L1"))).toBe(false);
  held.add(load("L1", "S1", "S2"));
  expect(held.has(load("L1"))).toBe(true);
  expect(held.has(load("L2", "S3", "S2"))).toBe(true);
  expect(held.has(load("L2", "S3"))).toBe(false);
  // A load and a stop of the same number are two things.
  expect(held.has(load("S1", "L1"))).toBe(false);
  expect(held.has({ ...load("L1", "S1"), companyId: 2 })).toBe(false);
  held.clear();
  expect(held.has(load("L1"))).toBe(false);
});

test("of a load whose numbers are not known all of its company wait", () => {
  const held = new LoadNumberSet();
  held.addAll(1);
  expect(held.has(load("L9"))).toBe(true);
  expect(held.has({ ...load("L9"), companyId: 2 })).toBe(false);
});
