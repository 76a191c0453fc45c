import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { createHashQueue } from "./sign-in-hash-queue.ts";

function setUp(limits = { maxRunning: 2, maxWaiting: 4, maxWaitingStrangers: 2 }) {
  const queue = createHashQueue(limits);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (name: string, isFamiliar = false) =>
    queue.run(isFamiliar, () => {
      started.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string, answer: Promise<string> | undefined) => {
    ends.get(name)?.();
    expect(await answer).toBe(name);
    await setImmediate();
  };
  return { queue, started, add, end };
}

it("no more than the given number of tasks run at once, and each end starts the next", async () => {
  const { started, add, end } = setUp();
  const [a] = [add("a"), add("b"), add("c")];
  expect(started).toEqual(["a", "b"]);
  await end("a", a);
  expect(started).toEqual(["a", "b", "c"]);
});

it("familiar callers go before strangers, and only they use the end of the line", async () => {
  const { started, add, end } = setUp();
  const a = add("a");
  const b = add("b");
  for (const name of ["c", "d"]) expect(add(name)).toBeDefined();
  expect(add("e")).toBeUndefined();
  for (const name of ["f", "g"]) expect(add(name, true)).toBeDefined();
  expect(add("h", true)).toBeUndefined();
  await end("a", a);
  await end("b", b);
  expect(started).toEqual(["a", "b", "f", "g"]);
});

it("a task that fails gives its place to the next", async () => {
  const { queue } = setUp({ maxRunning: 1, maxWaiting: 1, maxWaitingStrangers: 1 });
  const failing = queue.run(false, () => Promise.reject(new Error("no memory")));
  const next = queue.run(false, () => Promise.resolve("done"));
  await expect(failing).rejects.toThrow("no memory");
  expect(await next).toBe("done");
  expect(await queue.run(false, () => Promise.resolve("again"))).toBe("again");
});
