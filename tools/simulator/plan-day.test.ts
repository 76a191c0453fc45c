import { describe, expect, test } from "vitest";
import { validateLoad } from "../../src/domain/load/load.ts";
import { normaliseLoad } from "../../src/domain/load/normalise-load.ts";
import { momentOf } from "../../src/domain/time/zoned-time.ts";
import { createBodyReader } from "../../src/operations/request-body.ts";
import { GpsPosition, normaliseReport, RouteEvent } from "../../src/domain/execution/route-event.ts";
import type { DayPlan, PlannedRequest } from "./day-plan.ts";
import { type DayWishes, planDay } from "./plan-day.ts";

const day = { companyCode: "ACME", date: "2026-11-05", drivers: ["ann", "bob"] } as const;

function plan(wishes: Partial<DayWishes> = {}): DayPlan {
  return planDay({ ...day, loads: 12, ...wishes });
}

function requestsOf({ loads }: DayPlan): readonly PlannedRequest[] {
  return loads.flatMap(({ requests }) => requests);
}

function importedLoads({ imports }: DayPlan): readonly object[] {
  return imports.flatMap(({ request }) => (JSON.parse(request.body) as { loads: object[] }).loads);
}

/** The report's own time. */
function toldAt(request: PlannedRequest): number {
  const { geoStamp } = JSON.parse(request.body) as { geoStamp: { eventDTTM: string; eventTz: string } };
  return momentOf(geoStamp.eventDTTM, geoStamp.eventTz);
}

function isReport({ kind, refusal }: PlannedRequest): boolean {
  return kind !== "driverAssignment" && refusal === undefined;
}

describe("the plan of a day", () => {
  test("is the same for the same options, byte for byte", () => {
    expect(JSON.stringify(plan())).toBe(JSON.stringify(plan()));
  });

  test("is another one for another seed, even with the same numbers", () => {
    const [one, other] = [plan({ prefix: "P" }), plan({ prefix: "P", seed: 2 })];
    expect(one.imports[0]?.loadNbrs).toEqual(other.imports[0]?.loadNbrs);
    expect(one.imports[0]?.request.body).not.toBe(other.imports[0]?.request.body);
  });

  test("has the same loads whether there are many or few of them", () => {
    const few = plan({ loads: 3 });
    const many = new Map(plan({ loads: 60 }).loads.map((load) => [load.loadNbr, load]));
    for (const load of few.loads) expect(many.get(load.loadNbr)).toEqual(load);
  });

  test("imports at most 50 loads at once, each load once", () => {
    const { imports, loads } = plan({ loads: 101, gpsSeconds: 0 });
    expect(imports.map(({ loadNbrs }) => loadNbrs.length)).toEqual([50, 50, 1]);
    expect(new Set(imports.flatMap(({ loadNbrs }) => loadNbrs))).toEqual(
      new Set(loads.map(({ loadNbr }) => loadNbr)),
    );
  });

  test("has loads and reports that are valid by the definitions of the interface", () => {
    const long = plan({ seed: 9_999, loads: 20, stops: 20 });
    const faults = importedLoads(long).flatMap((load, index) =>
      validateLoad(normaliseLoad(load), `loads[${index}]`),
    );
    expect(faults).toEqual([]);
    const readEvent = createBodyReader(RouteEvent);
    const readPosition = createBodyReader(GpsPosition);
    for (const { kind, body } of requestsOf(long).filter(isReport)) {
      const input = { companyCode: "ACME", companyId: 1, body: normaliseReport(JSON.parse(body)) };
      if (kind === "gpsPosition") readPosition(input);
      else readEvent(input);
    }
  });

  test("has a bit of everything that a day brings", () => {
    const requests = requestsOf(plan({ loads: 30 }));
    const bodies = requests.map(({ body }) => body).join("\n");
    const codes = new Set([...bodies.matchAll(/"eventCode":"([a-z.]+)"/g)].map(([, code]) => code));
    expect(codes.size).toBe(12);
    const parts = ["SHORT", "DAMAGED", "autoDepart", ".pdf", ".png", "puConfirmedQty", "reasonComments"];
    for (const part of parts) expect(bodies).toContain(part);
    expect(requests.some(({ isRepeat }) => isRepeat)).toBe(true);
    expect(requests.filter(isReport).some((request) => request.at - toldAt(request) > 600_000)).toBe(true);
  });

  test("tells each load's reports in the order of their own times, also the late ones, but for repetitions", () => {
    for (const { requests } of plan({ loads: 30 }).loads) {
      const reports = requests.filter((request) => isReport(request) && !request.isRepeat);
      const told = reports.map(toldAt);
      expect(told).toEqual([...told].sort((one, other) => one - other));
      const sent = requests.map(({ at }) => at);
      expect(sent).toEqual([...sent].sort((one, other) => one - other));
      for (const request of reports) expect(request.at).toBeGreaterThanOrEqual(toldAt(request));
    }
  });

  test("repeats a report with its very bytes, after it", () => {
    for (const { requests } of plan({ loads: 30 }).loads) {
      for (const [index, { body, isRepeat }] of requests.entries())
        expect(requests.slice(0, index).some((before) => before.body === body)).toBe(isRepeat);
    }
  });

  test("has positions so many seconds apart while the driver is on the way, and none when none are wanted", () => {
    const positionsOf = (gpsSeconds: number) =>
      requestsOf(plan({ gpsSeconds })).filter(({ kind }) => kind === "gpsPosition").length;
    const [often, seldom] = [positionsOf(30), positionsOf(120)];
    expect(often / seldom).toBeGreaterThan(3);
    expect(often / seldom).toBeLessThan(4.5);
    expect(positionsOf(0)).toBe(0);
  });

  test("is sent by the host, or by the drivers when they sign in themselves", () => {
    expect(new Set(requestsOf(plan()).map(({ sender }) => sender))).toEqual(new Set([undefined]));
    const own = requestsOf(plan({ driversReport: true }));
    const senders = own.filter(({ kind }) => kind !== "driverAssignment").map(({ sender }) => sender);
    expect(new Set(senders)).toEqual(new Set(["ann", "bob"]));
  });

  test("has wrong reports only when they are wanted, each with its refusal", () => {
    expect(requestsOf(plan()).every(({ refusal }) => refusal === undefined)).toBe(true);
    const refusals = requestsOf(plan({ faults: true })).map(({ refusal }) => refusal);
    expect(new Set(refusals)).toEqual(new Set([undefined, 903, 920, 980, 981, 982]));
  });

  test.each([
    [{ seed: -1 }, "seed is -1"],
    [{ loads: 0 }, "loads is 0"],
    [{ stops: 100 }, "stops is 100"],
    [{ gpsSeconds: 1.5 }, "gpsSeconds is 1.5"],
    [{ prefix: "much-too-long" }, "prefix is much-too-long"],
    [{ date: "2026-02-30" }, "date is 2026-02-30"],
  ])("is refused with %j", (wishes, message) => {
    expect(() => plan(wishes)).toThrow(message);
  });
});
