import { expect, test } from "vitest";
import { NameFilter } from "./read-remote.ts";

test("a name that was added is always known, and hardly any other", () => {
  const filter = new NameFilter();
  for (let at = 0; at < 50_000; at += 1) filter.add(`there-${at}`);
  let missing = 0;
  let wrong = 0;
  for (let at = 0; at < 50_000; at += 1) {
    if (!filter.mayHave(`there-${at}`)) missing += 1;
    if (filter.mayHave(`other-${at}`)) wrong += 1;
  }
  expect(missing).toBe(0);
  expect(wrong).toBeLessThan(50);
});
