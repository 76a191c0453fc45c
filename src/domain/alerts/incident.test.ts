import { describe, expect, test } from "vitest";
import { closesAfterMs, newsOf } from "./incident.ts";
import { dayMs, hourMs } from "../../lib/durations.ts";

const halfDay = 12 * hourMs;

test.each([
  [0, 900_000, 900_000],
  [1, 900_000, 1_800_000],
  [5, 900_000, 28_800_000],
  [6, 900_000, halfDay],
  [1_000, 900_000, halfDay],
  [1_000, dayMs, dayMs],
  [3, 0, 0],
])(
  "opened again %i times, with closeAfterMs %i, its cause has to be gone for %i ms",
  (reopened, after, ms) => {
    expect(closesAfterMs({ reopened }, after)).toBe(ms);
  },
);

describe("what there is to tell", () => {
  const open = { closedAt: null, level: 1 };
  const closed = { closedAt: 5 * hourMs, level: 1 };
  const told = (state: "open" | "worse" | "closed", level = 1, reportedAt = 0) => ({
    state,
    level,
    reportedAt,
  });

  test.each([
    ["of an open one that nobody knows", open, undefined, 0, "opened"],
    ["of one that has opened and closed", closed, undefined, 0, "passed"],
    ["of an open one within a day", open, told("open"), dayMs - 1, undefined],
    ["of an open one after a day", open, told("open"), dayMs, "reminder"],
    ["of one that was told by a clock that was ahead", open, told("open", 1, 99 * dayMs), dayMs, "reminder"],
    ["of one that has got worse", { ...open, level: 2 }, told("open"), 1, "worse"],
    ["of one that has got better", open, told("open", 2), 1, undefined],
    ["of one that is over", closed, told("open"), 6 * hourMs, "closed"],
    ["of one that is over after it got worse", closed, told("worse", 2), 6 * hourMs, "closed"],
    ["of one that has got worse, and that is known", { ...open, level: 2 }, told("worse", 2), 1, undefined],
    ["of one whose end is known", closed, told("closed"), 99 * dayMs, undefined],
    ["of one that is back", open, told("closed"), 0, "reopened"],
  ] as const)("%s", (_, incident, last, now, news) => {
    expect(newsOf(incident, last, { now, remindAfterMs: dayMs })).toBe(news);
  });

  test("without reminders nothing, however long it lasts", () => {
    expect(newsOf(open, told("open"), { now: 99 * dayMs, remindAfterMs: undefined })).toBeUndefined();
  });
});
