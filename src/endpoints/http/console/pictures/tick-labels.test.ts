import { describe, expect, it } from "vitest";
import { dayMs, hourMs, minuteMs } from "../../../../lib/durations.ts";
import { tickLabels } from "./tick-labels.ts";
import { timeAxis } from "./time-axis.ts";

const noon = Date.UTC(2026, 10, 5, 12);
const day = "2026-11-05";

/** Begin and end of a text in pixels: signs of eleven pixels are no wider than these. */
function extent({ x, anchor }: { x: number; anchor: string }, text: string, width: number) {
  const length = text.length * 6.6;
  const middle = (x / 100) * width;
  const from = { start: middle, middle: middle - length / 2, end: middle - length }[anchor] ?? Number.NaN;
  return { from, to: from + length };
}

describe("texts of a time axis", () => {
  const weeks = [0, 1, 2, 30_000, 30_001, 60_000, 90_000].map((minutes) => noon + minutes * minuteMs);
  const cases = {
    "within a second": [noon, noon + 40],
    "over hours": [noon, noon + 9 * hourMs],
    "over a night": [noon, noon + 18 * hourMs],
    "over weeks that are cut": weeks,
    "over a year": [noon, noon + 400 * dayMs],
  };

  it.each(Object.entries(cases))("touch neither each other nor the ends, %s", (_name, moments) => {
    for (const width of [250, 560]) {
      const labels = tickLabels(timeAxis(moments).ticks, width);
      expect(labels.length).toBeGreaterThan(0);
      for (const texts of [
        labels.map((label) => ({ label, text: label.time })),
        labels.flatMap((label) => (label.day === undefined ? [] : [{ label, text: label.day }])),
      ]) {
        const extents = texts.map(({ label, text }) => extent(label, text, width));
        for (const [index, { from, to }] of extents.entries()) {
          expect(from).toBeGreaterThanOrEqual(extents[index - 1]?.to ?? 0);
          expect(to).toBeLessThanOrEqual(width);
        }
      }
    }
  });

  it("are more where there is room", () => {
    const { ticks } = timeAxis([noon, noon + 6 * hourMs]);
    expect(tickLabels(ticks, 560).length).toBeGreaterThan(tickLabels(ticks, 250).length);
    expect(tickLabels(ticks, 2_000)).toHaveLength(ticks.length);
  });

  it("name the day where one begins, also when the first tick of that day has no text", () => {
    const ticks = [
      { x: 10, time: "22:00", day },
      { x: 20, time: "00:00", day: "2026-11-06" },
      { x: 60, time: "06:00", day: "2026-11-06" },
      { x: 90, time: "08:00", day: "2026-11-06" },
    ];
    expect(tickLabels(ticks, 300)).toEqual([
      { x: 10, time: "22:00", day, anchor: "start" },
      { x: 60, time: "06:00", day: "2026-11-06", anchor: "middle" },
      { x: 90, time: "08:00", anchor: "middle" },
    ]);
  });
});
