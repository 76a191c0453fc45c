import { describe, expect, test } from "vitest";
import type { FailedOutcome } from "../domain/outbound/delivery-fault.ts";
import type { AttemptResult } from "./attempt.ts";
import { TargetHealth } from "./target-health.ts";
import { hourMs, secondMs } from "../lib/durations.ts";

const start = Date.UTC(2026, 10, 5, 8);
const delivery = { id: "guid", companyCode: "ACME", files: [] };

type Tried = Extract<AttemptResult, { kind: "tried" }>;

function tried(outcome: Tried["outcome"]): Tried {
  return { kind: "tried", outcome, rendered: { delivery, sha256: null, size: null } };
}

const delivered = tried({ kind: "delivered" });

function failed(rest: Partial<FailedOutcome> = {}): Tried {
  const fault = { kind: "failed", fault: "unreachable", message: "no", isPermanent: false } as const;
  return tried({ ...fault, scope: "target", ...rest });
}

function well(): TargetHealth {
  return new TargetHealth({ id: 4, failures: 0, pausedUntil: 0 });
}

const told = (now: number) => ({ now, random: 0.5 });

describe("a target", () => {
  test("that fails is paused, longer each time, and on trial after the pause", () => {
    const health = well();
    expect(health.learn(failed(), health.round, told(start))).toEqual({
      ...{ id: 4, failures: 1, pausedUntil: start + 5 * secondMs },
    });
    expect([health.isPaused(start), health.isPaused(start + 5 * secondMs)]).toEqual([true, false]);
    expect(health.isOnTrial).toBe(true);
    const again = start + 5 * secondMs;
    expect(health.learn(failed(), health.round, told(again))).toMatchObject({
      ...{ failures: 2, pausedUntil: again + 30 * secondMs },
    });
  });

  test("counts attempts that were under way together as one failure", () => {
    const health = well();
    const { round } = health;
    expect(health.learn(failed(), round, told(start))).toBeDefined();
    expect(health.learn(failed(), round, told(start))).toBeUndefined();
  });

  test("is well again with the first answer, also one that refuses a delivery alone", () => {
    for (const answer of [delivered, failed({ scope: "delivery", isPermanent: true, fault: "refused" })]) {
      const health = new TargetHealth({ id: 4, failures: 3, pausedUntil: 0 });
      expect(health.learn(answer, health.round, told(start))).toEqual({ id: 4, failures: 0, pausedUntil: 0 });
      expect(health.isOnTrial).toBe(false);
    }
  });

  test("says nothing new while it is well", () => {
    const health = well();
    expect(health.learn(delivered, health.round, told(start))).toBeUndefined();
  });

  test("is not judged by what was not sent, or by an attempt of before somebody saw to it", () => {
    const health = well();
    const withheld = { kind: "withheld", why: { kind: "postponed", dueAt: start } } as const;
    expect(health.learn(withheld, health.round, told(start))).toBeUndefined();
    const { round } = health;
    health.beginAnew();
    expect(health.learn(failed(), round, told(start))).toBeUndefined();
    expect(health.isPaused(start)).toBe(false);
  });

  test("that is paused is free when somebody else wrote the end of the pause, and not by what is older", () => {
    const health = well();
    health.learn(failed({ isPermanent: true }), health.round, told(start));
    expect(health.isEndedBy(0, start + secondMs)).toBe(false);
    expect(health.isEndedBy(start - 1, start + secondMs)).toBe(false);
    expect(health.isEndedBy(start + 5 * secondMs, start + secondMs)).toBe(false);
    expect(health.isEndedBy(start + secondMs, start + secondMs)).toBe(true);
  });

  test("is not kept from deliveries by a pause of a time when the clock was wrong", () => {
    const health = new TargetHealth({ id: 4, failures: 2, pausedUntil: start + 10_000 * hourMs });
    expect(health.isPaused(start)).toBe(false);
  });
});
