import { expect, test } from "vitest";
import { growthSection } from "./growth-section.ts";
import type { HealthFacts, ShownFinding } from "./health-view.ts";

const at = Date.UTC(2026, 10, 5, 8);
const idle = { running: undefined, last: undefined, failure: undefined };
type Known = Pick<HealthFacts, "growth" | "check">;
const factsOf = (result: readonly ShownFinding[] | undefined): Known => ({
  ...{ growth: idle, check: { ...idle, last: result && { at, result } } },
});

const forecast = {
  ...{ folder: "/var/lib/<dropgate>", measuredDays: 7, roomBytes: 3_000_000 },
  rates: [
    { what: "archive", bytesPerDay: 120_000 },
    { what: "ledger", bytesPerDay: -20_000 },
    { what: "events", bytesPerDay: 0 },
  ],
  points: [0, 15, 30, 45].map((day) => ({ day, bytes: day * 100_000 })),
};

test("says when the disk is full, what fills it, and day by day how much room is left", () => {
  const full = {
    status: "warning",
    what: "…",
    remedy: "make room by `retention.archive`",
    isGrowth: true,
  } as const;
  const { text } = growthSection(factsOf([{ ...full, forecast: { ...forecast, fullInDays: 30 } }]));
  expect(text).toContain("on 2026-12-05, in about 30 days");
  expect(text).toContain("/var/lib/&lt;dropgate&gt;");
  expect(text).toContain('<code class="command">retention.archive</code>');
  expect(text).toContain("120 kB");
  expect(text).toContain("−20.0 kB");
  expect(text).not.toContain(">events<");
  expect(text).toMatch(/2026-12-05<\/th><td[^>]*>3\.00 MB<\/td><td[^>]*>0 B</);
  const [, chart = "{}"] = /data-chart="([^"]*)"/.exec(text) ?? [];
  const { at: moments, unit, series } = JSON.parse(chart.replaceAll("&quot;", '"'));
  expect([moments.length, unit, series[1].values]).toEqual([4, "bytes", [3e6, 3e6, 3e6, 3e6]]);
});

test("of a disk that lasts it says so, and before it was measured when that is done", () => {
  const lasting = { status: "ok", what: "…", isGrowth: true, forecast } as const;
  expect(growthSection(factsOf([lasting])).text).toContain("not within ten years");
  expect(growthSection(factsOf(undefined)).text).toContain("has not been measured yet");
  const young = {
    status: "ok",
    what: "how long the disk lasts can be told after 3 days",
    isGrowth: true,
  } as const;
  expect(growthSection(factsOf([young])).text).toContain("can be told after 3 days");
  expect(growthSection(factsOf([{ status: "ok", what: "time zones are known" }])).text).toContain(
    "could not be told",
  );
});

test("what the daemon has measured by itself is shown, unless a check is newer; and why it came to nothing", () => {
  const found = (fullInDays: number) =>
    [{ status: "ok", what: "…", isGrowth: true, forecast: { ...forecast, fullInDays } }] as const;
  const own = { ...idle, last: { at, result: found(40) } };
  const checked = (when: number) => ({ ...idle, last: { at: when, result: found(90) } });
  expect(growthSection({ growth: own, check: checked(at - 1) }).text).toContain("in about 40 days");
  expect(growthSection({ growth: own, check: checked(at + 1) }).text).toContain("in about 90 days");
  const running = { since: at, progress: undefined };
  expect(growthSection({ growth: { ...idle, running }, check: idle }).text).toContain("is being measured");
  const failure = { at, message: "the share is gone" };
  const failed = growthSection({ growth: { ...own, failure }, check: idle }).text;
  expect(failed).toContain("the share is gone");
  expect(failed).toContain("in about 40 days");
});
