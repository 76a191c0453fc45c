import { expect, test } from "vitest";
import type { LoadPlan } from "./day-plan.ts";
import { differencesOfLoad } from "./verify-day.ts";

const plan: LoadPlan = {
  loadNbr: "L1",
  requests: [],
  outcome: {
    loadStatus: 90,
    driverUserName: "ann",
    stops: [
      { stopNbr: "A", stopStatus: "90", confirmed: [{ confirmedQty: 4, scannedQty: 4 }] },
      { stopNbr: "B", stopStatus: "80", confirmed: [] },
    ],
  },
};

function detail(change: { status?: number; quantity?: number; stopStatus?: string; driver?: string | null }) {
  const { status = 90, quantity = 4, stopStatus = "80", driver = "ann" } = change;
  const confirmed = { confirmedQty: quantity, scannedQty: 4 };
  return JSON.stringify({
    Load: {
      loadExecutionInfo: { loadStatus: status },
      loadAssignment: { driverUserName: driver },
      stops: [
        {
          stop: { stopNbr: "A", stopDetails: [{ stopDetailSeq: 1, confirmed }] },
          stopExecutionInfo: { stopStatus: "90" },
        },
        { stop: { stopNbr: "B", stopDetails: [{ stopDetailSeq: 1 }] }, stopExecutionInfo: { stopStatus } },
      ],
    },
  });
}

test("a load that is as planned has no differences", () => {
  expect(differencesOfLoad(plan, detail({}))).toEqual([]);
});

test.each([
  [{ status: 40 }, "load L1: loadStatus is 40, planned 90"],
  [{ driver: null }, 'load L1: driverUserName is null, planned "ann"'],
  [{ stopStatus: "38" }, 'load L1 stop B: stopStatus is "38", planned "80"'],
  [{ quantity: 3 }, "load L1 stop A detail 1: confirmedQty is 3, planned 4"],
])("what differs is named: %j", (change, difference) => {
  expect(differencesOfLoad(plan, detail(change))).toEqual([difference]);
});
