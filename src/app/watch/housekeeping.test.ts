import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { waitToPass } from "../../../test/support/wait-to-pass.ts";
import { loadConfig } from "../../config/load-config.ts";
import type { Config } from "../../config/schema.ts";
import { createLogger } from "../../lib/logs/log.ts";
import type { Store } from "../../store/database/database.ts";
import type { Retention } from "../retention/retention.ts";
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
  sweepDocuments: (now: number, signal: AbortSignal) => Promise<number>,
  {
    look = async () => Date.now(),
    prune = async () => true,
    vacuum = () => false,
    isOurs = () => true,
  }: Partial<
    Pick<Retention, "look" | "prune"> & Pick<Store, "vacuum"> & { readonly isOurs: () => boolean }
  > = {},
) {
  const log: string[] = [];
  let [rounds, holds] = [0, 0];
  const housekeeping = startHousekeeping({
    exchange: {
      async sweepPartials() {
        rounds += 1;
      },
    },
    store: { vacuum },
    sweepDocuments,
    endHolds: async () => {
      holds += 1;
    },
    retention: { look, prune },
    pruneAlerts: async () => undefined,
    log: createLogger({ level: "info", destination: { write: (line) => void log.push(line) } }),
    config: () => config,
    isOurs,
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

test("holds are ended each quarter; what is too old is removed once an hour, by the clock that was looked at", async () => {
  const times: number[] = [];
  const { housekeeping, holds } = start(async () => 0, {
    look: async () => Date.now() - 1,
    async prune(now) {
      times.push(now);
      return true;
    },
  });
  const begun = Date.now();
  await vi.advanceTimersByTimeAsync(5 * quarterMs);
  await housekeeping.stop();
  expect(holds()).toBe(6);
  expect(times).toEqual([begun - 1, begun + 4 * quarterMs - 1]);
});

test("while the clock is not to be trusted, holds end and nothing is removed by its age", async () => {
  let now: number | undefined;
  let removals = 0;
  const remove = async () => {
    removals += 1;
    return 0;
  };
  const { housekeeping, rounds, holds } = start(remove, {
    look: async () => now,
    prune: async () => (await remove()) === 0,
  });
  await vi.advanceTimersByTimeAsync(8 * quarterMs);
  expect([holds(), rounds(), removals]).toEqual([9, 0, 0]);
  now = Date.now();
  await vi.advanceTimersByTimeAsync(quarterMs);
  await housekeeping.stop();
  expect([holds(), rounds(), removals]).toEqual([10, 1, 2]);
});

test("a sweep that fails is told and done again in the next round", async () => {
  let sweeps = 0;
  const { housekeeping, log } = start(async () => {
    sweeps += 1;
    throw new Error("EIO");
  });
  await vi.advanceTimersByTimeAsync(4 * quarterMs);
  await housekeeping.stop();
  expect(sweeps).toBe(5);
  expect(log).toHaveLength(5);
});

test("a pass that is not done goes on in the next round, and the other work is done meanwhile", async () => {
  let passes = 0;
  let sweeps = 0;
  const { housekeeping, holds } = start(async () => ++sweeps, {
    prune: async () => passes++ >= 2,
  });
  await vi.advanceTimersByTimeAsync(5 * quarterMs);
  await housekeeping.stop();
  expect([passes, sweeps, holds()]).toEqual([3, 3, 6]);
});

test("a stop breaks off the sweep and says nothing of it", async () => {
  const { housekeeping, log } = start(
    (_now, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  );
  await vi.advanceTimersByTimeAsync(0);
  await housekeeping.stop();
  expect(log).toEqual([]);
});

test("free pages are given back in steps, with a turn for others between any two, and not all in one round", async () => {
  vi.useRealTimers();
  const portions: number[] = [];
  let turns = 0;
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  const turnsAt: number[] = [];
  const { housekeeping, holds } = start(async () => 0, {
    vacuum(pages) {
      portions.push(pages);
      turnsAt.push(turns);
      return true;
    },
  });
  await waitToPass(() => expect(holds()).toBe(1));
  clearImmediate(immediate);
  expect(portions).toEqual(Array.from({ length: 20 }, () => 100));
  expect(new Set(turnsAt).size).toBe(20);
  await housekeeping.stop();
});

test("contents of documents are swept by the node that does what concerns no company, and by no other", async () => {
  let [sweeps, isOurs] = [0, false];
  const sweep = async () => {
    sweeps += 1;
    return 0;
  };
  const { rounds } = start(sweep, { isOurs: () => isOurs });
  await vi.advanceTimersByTimeAsync(0);
  expect([rounds(), sweeps]).toEqual([1, 0]);
  isOurs = true;
  await vi.advanceTimersByTimeAsync(4 * quarterMs);
  expect(sweeps).toBe(1);
});
