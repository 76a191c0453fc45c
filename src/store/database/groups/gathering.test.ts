import { setImmediate, setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Gathering } from "./gathering.ts";

const durationMs = 80;

let gathering: Gathering;
let waiting: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  gathering = new Gathering(256);
  waiting = 0;
});
afterEach(() => vi.useRealTimers());

function come(count: number): void {
  waiting += count;
  gathering.noteWaiting(waiting);
}

/** Whether the next group has gone, by now. */
function gathered(): () => Promise<boolean> {
  let hasGone = false;
  void gathering
    .gather(() => waiting)
    .then(() => {
      hasGone = true;
    });
  return async () => {
    for (let turn = 0; turn < 12; turn += 1) await setImmediate();
    return hasGone;
  };
}

function groupOf(units: number, ms = durationMs): void {
  vi.advanceTimersByTime(ms);
  gathering.noteGroup({ units, durationMs: ms });
}

describe("a group", () => {
  it("goes at once when none was before it", async () => {
    come(1);
    expect(await gathered()()).toBe(true);
  });

  it("waits until it is as large as the one before", async () => {
    groupOf(3);
    come(1);
    const hasGone = gathered();
    expect(await hasGone()).toBe(false);
    come(1);
    expect(await hasGone()).toBe(false);
    come(1);
    expect(await hasGone()).toBe(true);
  });

  it("waits for those of the group before the last, which were answered first", async () => {
    groupOf(50);
    groupOf(1);
    come(1);
    const hasGone = gathered();
    expect(await hasGone()).toBe(false);
    come(49);
    expect(await hasGone()).toBe(true);
  });

  it("waits no longer than a quarter of the time that those before took", async () => {
    groupOf(50);
    come(1);
    const hasGone = gathered();
    expect(await hasGone()).toBe(false);
    vi.advanceTimersByTime(durationMs / 4 - 1);
    expect(await hasGone()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await hasGone()).toBe(true);
  });

  it("waits no longer than 50 ms after one that took very long", async () => {
    groupOf(50, 10_000);
    come(1);
    const hasGone = gathered();
    expect(await hasGone()).toBe(false);
    vi.advanceTimersByTime(50);
    expect(await hasGone()).toBe(true);
  });

  it("does not wait when the one before was as small, or ended long ago", async () => {
    groupOf(1);
    groupOf(1);
    come(1);
    expect(await gathered()()).toBe(true);
    groupOf(50);
    vi.advanceTimersByTime(durationMs + 1);
    expect(await gathered()()).toBe(true);
  });

  it("waits for no more units than a group may have", async () => {
    gathering = new Gathering(10);
    groupOf(50);
    come(9);
    const hasGone = gathered();
    expect(await hasGone()).toBe(false);
    come(1);
    expect(await hasGone()).toBe(true);
  });
});

describe("units without a group before", () => {
  it("are joined by those of the next turns as long as each brings more", async () => {
    vi.useRealTimers();
    come(2);
    const hasGone = gathered();
    for (let turn = 0; turn < 4; turn += 1) {
      come(1);
      await setImmediate();
    }
    await wait(1);
    expect(await hasGone()).toBe(true);
    expect(waiting).toBe(6);
  });
});
