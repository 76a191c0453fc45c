import { expect, test } from "vitest";
import type { ShownFinding } from "../../../endpoints/http/console/pages/health/health-view.ts";
import { createConsoleStanding, type StandingDeps } from "./console-standing.ts";

/** Of an installation without companies, whose growth was measured so. */
async function fillingOf(measured: readonly ShownFinding[] | undefined) {
  const deps = {
    companies: async () => [],
    stored: async () => ({ companies: [], incidents: [] }),
    clock: { now: () => 7 },
    pipeline: { statistics: () => ({ waiting: [] }), held: () => [] },
    arrivalWatch: { late: () => [] },
    intake: { space: { room: async () => ({ freeBytes: 9, minFreeBytes: 1 }) } },
    certificates: new Map(),
    health: { current: () => ({ messages: [] }) },
    growth: () => measured && { at: 5, result: measured },
  };
  const source = createConsoleStanding(deps as unknown as StandingDeps);
  return (await source.standing()).site.filling;
}

test("page 1 has when each disk is full, as the daemon has measured it last", async () => {
  const forecast = { folder: "/srv", measuredDays: 7, roomBytes: 9, rates: [], points: [] };
  const full = { status: "warning", what: "…", forecast: { ...forecast, fullInDays: 12 } } as const;
  expect(await fillingOf(undefined)).toBeUndefined();
  expect(await fillingOf([{ status: "ok", what: "can be told after 3 days" }])).toEqual([]);
  expect(await fillingOf([full, { status: "ok", what: "…", forecast }])).toEqual([
    { folder: "/srv", at: 5, isSoon: true, fullInDays: 12 },
    { folder: "/srv", at: 5, isSoon: false },
  ]);
});
