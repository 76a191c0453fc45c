import { expect, test } from "vitest";
import { createLogger } from "../../lib/logs/log.ts";
import { ReleaseStack } from "./service-group.ts";

function stackOf(order: string[]): { stack: ReleaseStack; lines: string[] } {
  const lines: string[] = [];
  const log = createLogger({ level: "info", destination: { write: (line) => lines.push(line) } });
  const stack = new ReleaseStack(log);
  stack.push({ name: "first", release: async () => void order.push("first") });
  return { stack, lines };
}

test("everything is undone, last first, past a failure", async () => {
  const order: string[] = [];
  const { stack, lines } = stackOf(order);
  stack.push({ name: "broken", release: () => Promise.reject(new Error("no")) });
  stack.push({ name: "last", release: async () => void order.push("last") });
  expect(await stack.releaseAll(AbortSignal.timeout(1_000))).toBe(1);
  expect(order).toEqual(["last", "first"]);
  expect(lines.join("")).toContain('"service":"broken"');
});

test("one that hangs is left behind after the deadline, and the others are stopped", async () => {
  const order: string[] = [];
  const { stack, lines } = stackOf(order);
  stack.push({ name: "hanging", release: () => new Promise(() => undefined) });
  expect(await stack.releaseAll(AbortSignal.timeout(50), 50)).toBe(1);
  expect(order).toEqual(["first"]);
  expect(lines.join("")).toContain("it has not stopped in time");
});

test("one that needs the whole deadline has its time", async () => {
  const order: string[] = [];
  const { stack } = stackOf(order);
  const release = (deadline: AbortSignal) =>
    new Promise<void>((resolve) =>
      deadline.addEventListener("abort", () => {
        order.push("at the deadline");
        resolve();
      }),
    );
  stack.push({ name: "slow", release });
  expect(await stack.releaseAll(AbortSignal.timeout(50), 1_000)).toBe(0);
  expect(order).toEqual(["at the deadline", "first"]);
});
