import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { loadConfig } from "../../config/load-config.ts";
import type { Config } from "../../config/schema.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { startHousekeeping } from "./housekeeping.ts";

const quarterMs = 15 * 60_000;
let config: Config;

beforeEach(async () => {
  const path = join(temporaryFolder(), "dropgate.yaml");
  await writeFile(path, "stateDir: ./var\n");
  const loaded = await loadConfig({ path, env: {}, cwd: "/" });
  if (loaded.kind === "faulty") throw new Error("the configuration is faulty");
  config = loaded.config;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function start(
  sweepDocuments: (signal: AbortSignal) => Promise<number>,
  prunedLoads: readonly number[] = [],
) {
  const log: string[] = [];
  let [rounds, holds, prunings] = [0, 0, 0];
  const housekeeping = startHousekeeping({
    exchange: {
      async sweepPartials() {
        rounds += 1;
      },
    },
    store: { vacuum: () => undefined },
    sweepDocuments,
    pruneOutbound: async () => 0,
    endHolds: async () => {
      holds += 1;
    },
    pruneRecords: async () => ({ appointments: 0, imports: 0, loads: prunedLoads[prunings++] ?? 0 }),
    clock: { now: () => Date.now() },
    log: createLogger({ level: "info", destination: { write: (line) => void log.push(line) } }),
    config: () => config,
  });
  return { housekeeping, log, rounds: () => rounds, holds: () => holds };
}

test("contents of documents are swept at the start and then once an hour, other things each quarter", async () => {
  let sweeps = 0;
  const { housekeeping, log, rounds } = start(async () => (sweeps++ === 0 ? 3 : 0));
  await vi.advanceTimersByTimeAsync(0);
  expect([rounds(), sweeps]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(3 * quarterMs);
  expect([rounds(), sweeps]).toEqual([4, 1]);
  await vi.advanceTimersByTimeAsync(quarterMs);
  expect([rounds(), sweeps]).toEqual([5, 2]);
  await housekeeping.stop();
  await vi.advanceTimersByTimeAsync(10 * quarterMs);
  expect(sweeps).toBe(2);
  expect(log.map((line) => (JSON.parse(line) as { removed?: number }).removed)).toEqual([3]);
});

test("holds are ended each quarter; records are pruned once an hour, and what was removed is told", async () => {
  const { housekeeping, log, holds } = start(async () => 0, [0, 7]);
  await vi.advanceTimersByTimeAsync(5 * quarterMs);
  await housekeeping.stop();
  expect(holds()).toBe(6);
  expect(log.map((line) => JSON.parse(line) as object)).toMatchObject([
    {
      appointments: 0,
      imports: 0,
      loads: 7,
      msg: expect.stringContaining("old records removed"),
    },
  ]);
});

test("a sweep that fails is told and done again an hour later", async () => {
  let sweeps = 0;
  const { housekeeping, log } = start(async () => {
    sweeps += 1;
    throw new Error("EIO");
  });
  await vi.advanceTimersByTimeAsync(4 * quarterMs);
  await housekeeping.stop();
  expect(sweeps).toBe(2);
  expect(log).toHaveLength(2);
});

test("a stop breaks off the sweep and says nothing of it", async () => {
  const { housekeeping, log } = start(
    (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  );
  await vi.advanceTimersByTimeAsync(0);
  await housekeeping.stop();
  expect(log).toEqual([]);
});
