import { expect, test } from "vitest";
import { RefusalRing } from "./refusal-ring.ts";
import type { Refusal } from "./standing.ts";

function refusal(reference: string, companyId = 1): Refusal {
  return {
    ...{ companyId, companyCode: `C${companyId}`, reference, name: `${reference}.xml`, state: "refused" },
    ...{ code: "missing", reasonCode: 904, message: "no Stop", at: 1 },
  };
}

const one = new Set([1]);
const references = (found: readonly Refusal[] | undefined) => found?.map(({ reference }) => reference);

test("who comes back is told what came after the last that it knows, of its companies alone", () => {
  const ring = new RefusalRing();
  for (const made of [refusal("a"), refusal("x", 2), refusal("b"), refusal("c")]) ring.add(made);
  expect(references(ring.after("a", one))).toEqual(["b", "c"]);
  expect(references(ring.after("c", one))).toEqual([]);
  expect(references(ring.after("a", new Set([1, 2])))).toEqual(["x", "b", "c"]);
});

test("the place of another company's refusal tells nothing", () => {
  const ring = new RefusalRing();
  ring.add(refusal("x", 2));
  ring.add(refusal("a"));
  expect(ring.after("x", one)).toBeUndefined();
});

test("who knew of none is told all of this run, and of another run nothing", () => {
  const [ring, later] = [new RefusalRing(), new RefusalRing()];
  const place = ring.newestOf(one);
  for (const made of [refusal("a"), refusal("b")]) {
    ring.add(made);
    later.add(made);
  }
  expect(references(ring.after(place, one))).toEqual(["a", "b"]);
  expect(later.after(place, one)).toBeUndefined();
  expect(ring.newestOf(one)).toBe("b");
});

test("an entry that is refused again is the newest, and its old place is not known any more", () => {
  const ring = new RefusalRing();
  for (const reference of ["a", "b", "a"]) ring.add(refusal(reference));
  expect(references(ring.after("b", one))).toEqual(["a"]);
});

test("the oldest are forgotten, and who knew only them has to read the page again", () => {
  const ring = new RefusalRing();
  const none = ring.newestOf(one);
  for (let number = 0; number < 501; number += 1) ring.add(refusal(`r${number}`));
  expect(ring.after("r0", one)).toBeUndefined();
  expect(ring.after(none, one)).toBeUndefined();
  expect(ring.after("r1", one)).toHaveLength(499);
});
