import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { JsonThread } from "./json-thread.ts";

const idleMs = 30_000;

let thread: JsonThread<string, string>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  thread = new JsonThread({
    module: "../testing/echo-worker",
    base: import.meta.url,
    name: "echoing",
    idleMs,
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await thread.close();
});

test("requests are answered one after the other, each with its own answer", async () => {
  const names = ["a", "b", "c"];
  expect(await Promise.all(names.map((name) => thread.run(name)))).toEqual(names);
});

test("what is asked while a thread that was idle is ending has its own answer from the next one", async () => {
  for (const round of ["1", "2", "3"]) {
    await thread.run(round);
    await Promise.resolve();
    vi.advanceTimersByTime(idleMs);
    const names = ["a", "b", "c"].map((name) => name + round);
    expect(await Promise.all(names.map((name) => thread.run(name)))).toEqual(names);
  }
});

test("what waits when it is closed is rejected, and starts no thread", async () => {
  await thread.run("first");
  const waiting = [thread.run("in hand"), thread.run("next")];
  const ends = Promise.allSettled(waiting);
  await Promise.resolve();
  await thread.close();
  expect((await ends).at(1)).toMatchObject({ status: "rejected", reason: { message: /is closed/ } });
  await expect(thread.run("later")).rejects.toThrow("the echoing thread is closed");
});
