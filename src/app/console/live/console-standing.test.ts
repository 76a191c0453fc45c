import { expect, test } from "vitest";
import type { ShownFinding } from "../../../endpoints/http/console/pages/health/health-view.ts";
import { createConsoleStanding, type StandingDeps } from "./console-standing.ts";

/** Of an installation without companies, whose growth was measured so. */
async function fillingOf(measured: readonly ShownFinding[] | undefined) {
  const deps = {
    companies: async () => [],
    stored: async () => ({ companies: [], incidents: [] }),
    clock: { now: () => 7 },
    standings: { all: () => [] },
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

test("a company stands as the node says that has it, and by the newest word of two", async () => {
  const shown = { halts: {}, late: [], uncollected: {} };
  const due = { name: "morning", beginsAt: 1, dueAt: 2, arrived: 0, atLeast: 4, files: {} };
  const deps = {
    companies: async () => [],
    stored: async () => ({
      companies: [
        { companyId: 1, companyCode: "ONE" },
        { companyId: 2, companyCode: "TWO" },
      ],
      incidents: [],
    }),
    clock: { now: () => 65_500 },
    standings: {
      all: () => [
        {
          ...{ waiting: [{ companyId: 1, count: 3, since: 500 }], halts: { ONE: "the disk is full" } },
          ...{ late: [{ ...due, companyId: 1 }], uncollected: { ONE: 2 } },
        },
        { ...shown, waiting: [{ companyId: 2, count: 9, since: 7 }] },
        { ...shown, waiting: [{ companyId: 2, count: 1, since: 64_000 }] },
      ],
    },
    intake: { space: { room: async () => ({ freeBytes: 9, minFreeBytes: 1 }) } },
    certificates: new Map(),
    health: { current: () => ({ messages: [] }) },
    growth: () => undefined,
  };
  const { companies } = await createConsoleStanding(deps as unknown as StandingDeps).standing();
  expect(companies.get(1)).toMatchObject({
    ...{ waiting: 3, oldestAgeMs: 65_000, halt: "the disk is full", late: [due], uncollected: 2 },
  });
  expect(companies.get(2)).toMatchObject({ waiting: 1, oldestAgeMs: 1_000, late: [] });
  expect(companies.get(2)?.halt).toBeUndefined();
});
