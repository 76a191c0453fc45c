import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConnectionDeadline } from "./connection-deadline.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A deadline, and what has passed: at how many milliseconds from the beginning. */
function open() {
  const begun = Date.now();
  const passed: string[] = [];
  const note = (what: string) => () => passed.push(`${what} ${Date.now() - begun}`);
  return { deadline: new ConnectionDeadline(), passed, note, begun };
}

describe("a client connection", () => {
  test("has its time to sign in, and once signed in may be idle for so long", () => {
    const { deadline, passed, note } = open();
    deadline.toSignIn(100, note("signIn"));
    vi.advanceTimersByTime(99);
    deadline.toBeActive({ timeoutMs: 50, lastActiveAtMs: () => 0, expired: note("idle") });
    vi.advanceTimersByTime(1_000);
    expect(passed).toEqual(["idle 149"]);
    const missed = open();
    missed.deadline.toSignIn(100, missed.note("signIn"));
    vi.advanceTimersByTime(1_000);
    expect(missed.passed).toEqual(["signIn 100"]);
  });

  test("is idle from its last activity on, noted or not, and is told for how long it was", () => {
    const { deadline, passed, begun } = open();
    let unnoted = 0;
    const expired = (idleMs: number) => passed.push(`${Date.now() - begun} after ${idleMs}`);
    deadline.toBeActive({ timeoutMs: 100, lastActiveAtMs: () => unnoted, expired });
    vi.advanceTimersByTime(60);
    deadline.touch();
    vi.advanceTimersByTime(80);
    unnoted = Date.now();
    vi.advanceTimersByTime(99);
    expect(passed).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(passed).toEqual(["240 after 100"]);
  });

  test.each([
    [false, 2_000],
    [true, 500],
  ])(
    "lets go after its farewell (prompt: %s) within %d ms, and is not idle meanwhile",
    (isPrompt, withinMs) => {
      const { deadline, passed, note } = open();
      deadline.toBeActive({ timeoutMs: 10, lastActiveAtMs: () => 0, expired: note("idle") });
      deadline.toLetGo(note("cut"), { isPrompt });
      vi.advanceTimersByTime(10_000);
      expect(passed).toEqual([`cut ${withinMs}`]);
    },
  );

  test("that is gone has no deadline", () => {
    const { deadline, passed, note } = open();
    deadline.toSignIn(100, note("signIn"));
    deadline.end();
    vi.advanceTimersByTime(1_000);
    expect(passed).toEqual([]);
  });
});
