import { describe, expect, test } from "vitest";
import type { FailedOutcome } from "../domain/outbound/delivery-fault.ts";
import type { AttemptResult } from "./attempt.ts";
import { attemptRecordOf, type FinishedAttempt } from "./attempt-record.ts";
import type { DeliveryToRender } from "./delivery-to-render.ts";
import { hourMs, secondMs } from "../lib/durations.ts";

const at = Date.UTC(2026, 10, 5, 8);
const now = at + secondMs;

const row: DeliveryToRender = {
  ...{ id: 7, guid: "guid", companyId: 1, companyCode: "ACME", targetId: 2, kind: "completion" },
  ...{ subjectId: 3, orderKey: "S1", name: "s1_20261105_080000.xml", dueAt: at, attempts: 0 },
  firstAttemptAt: null,
  createdAt: 0,
};
const delivery = { id: "guid", companyCode: "ACME", files: [] };

function tried(outcome: Extract<AttemptResult, { kind: "tried" }>["outcome"]): FinishedAttempt["result"] {
  return { kind: "tried", outcome, rendered: { delivery, sha256: "ab", size: 5 } };
}

function failed(rest: Partial<FailedOutcome>): FinishedAttempt["result"] {
  const fault = { kind: "failed", fault: "busy", message: "later", scope: "delivery" } as const;
  return tried({ ...fault, isPermanent: false, ...rest });
}

function recordOf(result: FinishedAttempt["result"], rest: Partial<FinishedAttempt> = {}) {
  return attemptRecordOf({ row, result, at, now, durationMs: 1_000, random: 0.5, moves: 0, ...rest });
}

describe("what is recorded of an attempt", () => {
  test("that succeeded is what was sent", () =>
    expect(recordOf(tried({ kind: "delivered" }))).toMatchObject({
      kind: "delivered",
      sha256: "ab",
      size: 5,
    }));

  test("that failed for now is when it is tried again, by the number of attempts", () => {
    expect(recordOf(failed({}))).toMatchObject({
      kind: "later",
      dueAt: now + 5 * secondMs,
      isOfTarget: false,
    });
    const fourth = { row: { ...row, attempts: 3, firstAttemptAt: at } };
    expect(recordOf(failed({}), fourth)).toMatchObject({ kind: "later", dueAt: now + 600 * secondMs });
  });

  test("that failed for good is a dead letter, and so is one that fails 72 hours after the first", () => {
    expect(recordOf(failed({ isPermanent: true }))).toMatchObject({ kind: "dead" });
    const old = { row: { ...row, attempts: 20, firstAttemptAt: now - 72 * hourMs } };
    expect(recordOf(failed({}), old)).toMatchObject({ kind: "dead" });
  });

  test.each([{ isPermanent: true }, { isPermanent: false }])(
    "that failed by a fault of the whole target is never a dead letter (%o)",
    ({ isPermanent }) => {
      const old = { row: { ...row, attempts: 20, firstAttemptAt: now - 1_000 * hourMs } };
      expect(recordOf(failed({ scope: "target", isPermanent }), old)).toMatchObject({
        ...{ kind: "later", dueAt: now + 6 * hourMs, isOfTarget: true },
      });
    },
  );

  test("whose name was taken is that it goes on under another, but for exports and after 100 names", () => {
    const taken = tried({ kind: "nameTaken", name: row.name });
    expect(recordOf(taken)).toMatchObject({ kind: "nameTaken", name: row.name });
    expect(recordOf(taken, { moves: 100 })).toMatchObject({ kind: "later", fault: "refused" });
    const ofExport = { row: { ...row, kind: "export" as const } };
    expect(recordOf(taken, ofExport)).toMatchObject({ kind: "dead", fault: "refused" });
  });

  test("that was not made because the message is of no use is that it was dropped", () => {
    const why = { kind: "dropped", fault: "tooLate", message: "the stop is done" } as const;
    expect(recordOf({ kind: "withheld", why })).toMatchObject({ kind: "dropped", fault: "tooLate" });
  });

  test("has no more than 2,000 characters of what was said", () => {
    const record = recordOf(failed({ message: "x".repeat(5_000) }));
    expect(record).toMatchObject({ faultText: "x".repeat(2_000) });
  });
});
