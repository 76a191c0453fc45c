import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { startSelfChecks } from "./self-check-rounds.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(watchdogIntervalMs?: number) {
  const rig = {
    failures: [] as string[],
    wantsRestart: false,
    checks: 0,
    fed: 0,
    lines: [] as string[],
  };
  const health = {
    async refresh() {
      rig.checks += 1;
      return rig.failures;
    },
    wantsRestart: () => rig.wantsRestart,
  };
  const notify = async () => {
    rig.fed += 1;
  };
  const note = (fields: unknown, text?: string) => void rig.lines.push(text ?? String(fields));
  const end = startSelfChecks(health, { watchdogIntervalMs, notify }, { info: note, error: note });
  return { ...{ rig, end } };
}

it("checks each 15 seconds, or as often as the watchdog wants", async () => {
  const [usual, watched] = [start(), start(5_000)];
  await vi.advanceTimersByTimeAsync(30_000);
  expect([usual.rig.checks, usual.rig.fed]).toEqual([2, 0]);
  expect([watched.rig.checks, watched.rig.fed]).toEqual([6, 6]);
  expect([...usual.rig.lines, ...watched.rig.lines]).toEqual([]);
});

it("knows within a second that a failure is over, and tells each once", async () => {
  const { rig } = start();
  rig.failures = ["store: away"];
  await vi.advanceTimersByTimeAsync(20_000);
  expect([rig.checks, rig.lines]).toEqual([6, ["self-check failed"]]);
  rig.failures = ["store: away", "http: away"];
  await vi.advanceTimersByTimeAsync(2_000);
  rig.failures = [];
  await vi.advanceTimersByTimeAsync(1_000);
  expect(rig.lines).toEqual(["self-check failed", "self-check failed", "the self-check is fine again"]);
  const { checks } = rig;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(rig.checks).toBe(checks);
});

it("does not feed the watchdog while a restart is wanted", async () => {
  const { rig } = start(5_000);
  rig.failures = ["parser: the probe document was refused"];
  rig.wantsRestart = true;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(rig.fed).toBe(0);
});

it("ends with the daemon", async () => {
  const { rig, end } = start();
  rig.failures = ["store: away"];
  await vi.advanceTimersByTimeAsync(16_000);
  const { checks } = rig;
  end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(rig.checks).toBe(checks);
});
