import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { ConcurrencyLimit, mapConcurrently } from "./concurrency.ts";

test("calls that are not answered keep their places; the others follow each other in the rest", async () => {
  const calls = new ConcurrencyLimit(2);
  const begun: string[] = [];
  void calls.run(() => {
    begun.push("dead");
    return new Promise(() => undefined);
  });
  const answers = new Map<string, (error?: Error) => void>();
  const ask = (name: string) =>
    calls.run(async () => {
      begun.push(name);
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      answers.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
      return await promise;
    });
  const [first, second, third] = [ask("first"), ask("second"), ask("third")];
  await setImmediate();
  expect(begun).toEqual(["dead", "first"]);
  answers.get("first")?.();
  expect(await first).toBe("first");
  await setImmediate();
  expect(begun).toEqual(["dead", "first", "second"]);
  answers.get("second")?.(new Error("EIO"));
  await expect(second).rejects.toThrow("EIO");
  await setImmediate();
  answers.get("third")?.();
  expect(await third).toBe("third");
});

test("of a list as many as may be are under way, and results are in its order", async () => {
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const mapped = mapConcurrently(["a", "b", "c", "d"], 2, async (item) => {
    begun.push(item);
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.push(resolve);
    await promise;
    return item.toUpperCase();
  });
  expect(begun).toEqual(["a", "b"]);
  ends[1]?.();
  await setImmediate();
  expect(begun).toEqual(["a", "b", "c"]);
  ends[0]?.();
  ends[2]?.();
  await setImmediate();
  ends[3]?.();
  expect(await mapped).toEqual(["A", "B", "C", "D"]);
});

test("of a list no more is begun when one has failed", async () => {
  const begun: number[] = [];
  const mapped = mapConcurrently([0, 1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    await setImmediate();
    if (item === 1) throw new Error("EIO");
  });
  await expect(mapped).rejects.toThrow("EIO");
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  expect(begun).toEqual([0, 1, 2]);
});
