import { expect, test } from "vitest";
import type { DayProgress } from "./play-day.ts";
import { createProgressView, progressText } from "./progress-view.ts";

const half: DayProgress = { phase: "play", requests: 600, plannedRequests: 1_200, loadsDone: 7, loads: 20 };

test("the line has a bar, loads, requests and their rate", () => {
  const line = "[############............] playing: 7 of 20 loads, 600 requests, 300/s";
  expect(progressText(half, 2_000)).toBe(line);
  expect(progressText({ ...half, requests: 1_300 }, 0)).toContain(`[${"#".repeat(24)}]`);
});

test("a view that was never drawn leaves nothing behind", () => {
  let written = "";
  const write = (text: string) => (written += text);
  const view = createProgressView({ isTTY: true, write });
  view.show(half);
  view.end();
  expect(written).toBe("");
});
