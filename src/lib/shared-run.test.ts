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
