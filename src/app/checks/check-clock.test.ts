import { afterEach, expect, test, vi } from "vitest";
import { checkClock } from "./check-clock.ts";
import { dayMs, minuteMs } from "../../lib/durations.ts";

const now = Date.UTC(2026, 10, 5, 8);

function found({ newest = now, latest = now }: { readonly newest?: number; readonly latest?: number }) {
  vi.useFakeTimers({ now, toFake: ["Date"] });
  const newestTime = { at: newest, what: "an import was received" };
  return checkClock({ newestTime, pruneClock: { latest } });
}

afterEach(() => {
  vi.useRealTimers();
});

test("a clock that is as late as the state, or behind it by what the network corrects, is right", () => {
  for (const newest of [now - 9 * dayMs, now, now + 5 * minuteMs])
    expect(found({ newest, latest: now - dayMs })).toEqual([
      { status: "ok", what: "the clock is not behind the times in the state" },
    ]);
});

test.each([
  [5 * minuteMs + 1, "5 minutes"],
  [119 * minuteMs, "119 minutes"],
  [120 * minuteMs, "2 hours"],
  [47 * 60 * minuteMs, "47 hours"],
  [800 * dayMs + 1, "800 days"],
])("one that is %i ms behind is told by how much: %s", (ahead, span) => {
  const [finding, ...more] = found({ newest: now + ahead });
  expect(more).toEqual([]);
  expect(finding?.status).toBe("warning");
  expect(finding?.what).toContain(
    `the clock is ${span} behind the state: it shows ${new Date(now).toISOString()}, and an import was received ${new Date(now + ahead).toISOString()}`,
  );
});

test("one that has jumped ahead by more than a day keeps retention from removing anything", () => {
  expect(found({ newest: now - 2 * dayMs, latest: now - dayMs - 1 })).toMatchObject([
    { status: "warning", what: expect.stringContaining("nothing is removed by its age until") },
  ]);
});

test("nothing is said of a state without a time", () => {
  expect(checkClock({ newestTime: undefined, pruneClock: undefined })).toEqual([]);
});
