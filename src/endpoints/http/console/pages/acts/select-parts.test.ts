import { expect, test } from "vitest";
import { mostAtOnce } from "../../console-acts.ts";
import { selectParts } from "./select-parts.ts";

/** A list without an end, of which each part has so many. */
function endless(size: number) {
  const asked: { readonly limit: number; readonly before?: string }[] = [];
  const read = async (part: { readonly limit: number; readonly before?: string }) => {
    asked.push(part);
    return {
      items: Array.from({ length: Math.min(size, part.limit) }, () => "x"),
      before: `p${asked.length}`,
    };
  };
  return { asked, read };
}

test("as many are selected as can be done at once, each part from where the one before ended", async () => {
  const { asked, read } = endless(300);
  const { items, isCut } = await selectParts(Number.POSITIVE_INFINITY, read);
  expect([items.length, isCut]).toEqual([mostAtOnce, true]);
  expect(asked).toEqual([{ limit: mostAtOnce }, { limit: mostAtOnce - 300, before: "p1" }]);
});

test("a filter that selects nothing of a long list is not looked for without end", async () => {
  const { asked, read } = endless(0);
  const until = performance.now() + 20;
  const found = await selectParts(until, async (part) => {
    if (performance.now() > until + 5_000) throw new Error("it goes on");
    return await read(part);
  });
  expect(found).toEqual({ items: [], isCut: true });
  expect(asked.length).toBeGreaterThan(0);
});

test("a list that ends is told to be whole", async () => {
  const found = await selectParts(0, async () => ({ items: ["a"], before: null }));
  expect(found).toEqual({ items: ["a"], isCut: false });
});
