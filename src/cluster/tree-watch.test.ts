import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TreeWatch } from "./tree-watch.ts";

const patience = { answerMs: 500, faultMs: 5_000 };
/** Until what was answered is known. */
const settled = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a tree that answers can be relied on, and so can one that has not had the time to", async () => {
  const answers: (() => void)[] = [];
  const watch = new TreeWatch(() => new Promise((resolve) => answers.push(resolve)), patience);
  expect(watch.look()).toBe(true);
  await vi.advanceTimersByTimeAsync(500);
  expect(watch.look()).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
  expect([watch.look(), watch.look()]).toEqual([false, false]);
  expect(answers).toHaveLength(1);
  answers[0]?.();
  await settled();
  expect(watch.look()).toBe(true);
  expect(answers).toHaveLength(2);
});

test("a tree that is slow is relied on each time it has answered", async () => {
  const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 1_500));
  const watch = new TreeWatch(slow, patience);
  const looks: boolean[] = [];
  for (let round = 0; round < 6; round += 1) {
    looks.push(watch.look());
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(looks).toEqual([true, false, true, false, true, false]);
  expect(watch.fault).toBeUndefined();
});

test("a tree that refuses is not relied on until it has answered once, and is at fault after a while", async () => {
  let isThere = false;
  const watch = new TreeWatch(async () => {
    if (!isThere) throw new Error("ENOENT");
  }, patience);
  watch.look();
  await settled();
  expect(watch.look()).toBe(false);
  expect(watch.fault).toBeUndefined();
  await vi.advanceTimersByTimeAsync(5_001);
  expect(watch.fault).toMatch(/has not answered for 5 s.*mount it again/);
  isThere = true;
  expect(watch.look()).toBe(false);
  await settled();
  expect(watch.look()).toBe(true);
  expect(watch.fault).toBeUndefined();
});
