import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { busyPercentFor, HeapGrowth, usualPercentFor } from "./heap-growth.ts";

const megabyte = 1024 * 1024;
let percents: number[];
let usedBytes: number;
let growth: HeapGrowth;

beforeEach(() => {
  vi.useFakeTimers();
  percents = [];
  usedBytes = 16 * megabyte;
  growth = new HeapGrowth({
    usedBytes: () => usedBytes,
    setGrowthPercent: (percent) => percents.push(percent),
  });
});
afterEach(() => void vi.useRealTimers());

test.each([
  [20 * megabyte, 140],
  [24 * megabyte, 100],
  [40 * megabyte, 100],
  [1_000 * megabyte, 100],
])("while much is received a heap of %i bytes may grow by %i percent", (usedBytes, percent) => {
  expect(busyPercentFor(usedBytes)).toBe(percent);
});

test.each([
  [10 * megabyte, 100],
  [24 * megabyte, 100],
  [48 * megabyte, 50],
  [1_000 * megabyte, 25],
])("a heap of %i bytes may grow by %i percent", (bytes, percent) => {
  expect(usualPercentFor(bytes)).toBe(percent);
});

test("a heap that has become large is collected sooner, until it is small again", () => {
  usedBytes = 48 * megabyte;
  vi.advanceTimersByTime(2_000);
  expect(percents).toEqual([50]);
  usedBytes = 16 * megabyte;
  vi.advanceTimersByTime(2_000);
  expect(percents).toEqual([50, 100]);
});

test("a large heap may grow as much as any other while much is received", () => {
  usedBytes = 48 * megabyte;
  vi.advanceTimersByTime(2_000);
  for (let second = 0; second < 5; second += 1) {
    growth.received(20 * megabyte);
    vi.advanceTimersByTime(1_000);
  }
  expect(percents).toEqual([50, 100]);
  vi.advanceTimersByTime(3_000);
  expect(percents).toEqual([50, 100, 50]);
});

test("little that is received changes nothing", () => {
  for (let second = 0; second < 20; second += 1) {
    growth.received(megabyte);
    vi.advanceTimersByTime(1_000);
  }
  expect(percents).toEqual([]);
});

test("the heap may grow as soon as much has come, and for as long as it comes", () => {
  for (let count = 0; count < 8; count += 1) growth.received(megabyte);
  expect(percents).toEqual([]);
  growth.received(1);
  expect(percents).toEqual([200]);
  for (let second = 0; second < 5; second += 1) {
    growth.received(20 * megabyte);
    vi.advanceTimersByTime(1_000);
  }
  expect(percents).toEqual([200]);
  vi.advanceTimersByTime(1_000);
  expect(percents).toEqual([200, 100]);
});

test("the stop gives the usual limit back and leaves no timer", () => {
  growth.received(9 * megabyte);
  growth.stop();
  expect(percents).toEqual([200, 100]);
  expect(vi.getTimerCount()).toBe(0);
});

/** What the engine says about settings that it does not know: it prints that, and goes on. */
function complaintsOf(code: string): string {
  const growthFile = new URL("./heap-growth.ts", import.meta.url).href;
  const threadsFile = new URL("../../lib/threads/thread-heaps.ts", import.meta.url).href;
  const imports = `import { HeapGrowth } from "${growthFile}"; import { keepThreadHeapsSmall } from "${threadsFile}";`;
  const script = `${imports} import v8 from "node:v8"; ${code}`;
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", script];
  const result = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(result.status).toBe(0);
  return result.stderr;
}

test("the engine knows the settings", () => {
  const ours = "const real = new HeapGrowth(); real.received(9e6); real.stop(); keepThreadHeapsSmall();";
  expect(complaintsOf(ours)).toBe("");
  expect(complaintsOf('v8.setFlagsFromString("--heap-growing-share=25");')).toContain("unrecognized flag");
});
