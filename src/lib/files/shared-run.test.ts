import { expect, test } from "vitest";
import { shareRuns } from "./shared-run.ts";

test("runs never overlap, however they are asked for", async () => {
  let running = 0;
  let most = 0;
  let count = 0;
  const ask = shareRuns(async () => {
    running += 1;
    most = Math.max(most, running);
    count += 1;
    await Promise.resolve();
    running -= 1;
  });
  const askOften = async (): Promise<void> => {
    for (let index = 0; index < 50; index += 1) {
      await ask();
      for (let turn = 0; turn < index % 5; turn += 1) await Promise.resolve();
    }
  };
  await Promise.all([askOften(), askOften(), askOften(), askOften()]);
  expect(most).toBe(1);
  expect(count).toBeGreaterThanOrEqual(50);
});

test("who asks while one runs gets the next, and all who wait the same", async () => {
  const begun: PromiseWithResolvers<void>[] = [];
  const ask = shareRuns(() => {
    const run = Promise.withResolvers<void>();
    begun.push(run);
    return run.promise;
  });
  const first = ask();
  const [second, third] = [ask(), ask()];
  expect(begun).toHaveLength(1);
  begun[0]?.reject(new Error("only the first"));
  await expect(first).rejects.toThrow("only the first");
  expect(begun).toHaveLength(2);
  begun[1]?.resolve();
  await Promise.all([second, third]);
  expect(begun).toHaveLength(2);
});

test("who asks while the run is gathered gets that run, and who asks afterwards the next", async () => {
  const gathered: PromiseWithResolvers<void>[] = [];
  const begun: PromiseWithResolvers<void>[] = [];
  const noted = (list: PromiseWithResolvers<void>[]) => () => {
    const one = Promise.withResolvers<void>();
    list.push(one);
    return one.promise;
  };
  const ask = shareRuns(noted(begun), noted(gathered));
  const together = [ask(), ask()];
  expect(begun).toHaveLength(0);
  gathered[0]?.resolve();
  await Promise.resolve();
  expect(begun).toHaveLength(1);
  const later = ask();
  begun[0]?.resolve();
  await Promise.all(together);
  expect(begun).toHaveLength(1);
  gathered[1]?.resolve();
  await Promise.resolve();
  begun[1]?.resolve();
  await later;
  expect(begun).toHaveLength(2);
});
