import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { isRunning, processOf } from "./running-process.ts";

describe("a process", () => {
  test("runs until it has ended, and another one with its id is not the same", async () => {
    const child = spawn("sleep", ["60"]);
    const found = processOf(child.pid ?? 0);
    if (found === undefined) throw new Error("the system knows no such process");
    expect(isRunning(found)).toBe(true);
    expect(isRunning({ ...found, startedTicks: found.startedTicks + 1 })).toBe(false);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
    expect(isRunning(found)).toBe(false);
    expect(processOf(found.pid)).toBeUndefined();
  });

  test("that has ended runs no more, also while its parent does not ask for it", async () => {
    const parent = spawn("sh", ["-c", "sleep 0 & exec sleep 60"]);
    onTestFinished(() => void parent.kill("SIGKILL"));
    const children = `/proc/${parent.pid}/task/${parent.pid}/children`;
    const child = () => Number(readFileSync(children, "utf8"));
    await expect.poll(child, { timeout: 20_000 }).toBeGreaterThan(0);
    const state = () => readFileSync(`/proc/${child()}/stat`, "utf8").split(" ")[2];
    await expect.poll(state, { timeout: 20_000 }).toBe("Z");
    const found = processOf(child());
    if (found === undefined) throw new Error("the system knows no such process");
    expect(isRunning(found)).toBe(false);
  });
});
