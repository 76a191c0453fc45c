/** What people ask of the deliveries of years is answered by an index, page by page, without a sort of all of them. */
import { describe, expect } from "vitest";
import {
  countDeliveries,
  type DeliverySelection,
  listDeliveries,
  listDeliveryIds,
} from "../../src/store/outbound/delivery-lists.ts";
import { plannedStoreOfEachTest } from "../support/planned-store.ts";
// The plans are SQLite's, in its words.
import { itOnSqlite as test } from "../support/store-dialect.ts";

const store = plannedStoreOfEachTest();
const { plan } = store;

const page = { afterId: 0, upToId: 1_000_000, limit: 100 };

/** How the rows of deliveries are reached, by the newest of a list, by a page of ids, and when they are counted. */
async function waysTo(selection: DeliverySelection): Promise<readonly (readonly string[])[]> {
  const plans = [
    await plan(() => listDeliveries(store.read, { ...selection, limit: 50 })),
    await plan(() => listDeliveryIds(store.read, selection, page)),
    await plan(() => countDeliveries(store.read, selection)),
  ];
  return plans.map((steps) => steps.filter((step) => /^(?:SEARCH|SCAN) d\b|TEMP B-TREE/.test(step)));
}

const served = [
  [{ state: "waiting" }, "deliveries_due (target_id=?"],
  [{ state: "behind" }, "deliveries_oldest (target_id=?"],
  [{ state: "dead" }, "deliveries_dead (target_id=?"],
  [{ state: "dead", target: "erp", companyId: 1, fault: "refused" }, "deliveries_dead (target_id=?"],
  [{ stopNbr: "S1" }, "deliveries_subject (kind=? AND subject_id=?"],
  [{ stopNbr: "S1", companyId: 1, state: "delivered" }, "deliveries_subject (kind=? AND subject_id=?"],
  [{ name: "1_20261105_080000.xml" }, "deliveries_name (company_id=? AND name=?"],
  [{ name: "4711_2026*", companyId: 1 }, "deliveries_name (company_id=? AND name>? AND name<?"],
] as const satisfies readonly (readonly [DeliverySelection, string])[];

describe("an index serves deliveries", () => {
  test.each(served)("of %o by %s", async (selection, index) => {
    for (const steps of await waysTo(selection)) {
      const reached = steps.filter((step) => !step.includes("TEMP B-TREE"));
      expect(reached.length).toBeGreaterThan(0);
      for (const step of reached) expect(step).toContain(`INDEX ${index}`);
    }
  });
});

const readInOrder = [
  {},
  { since: 1, until: 2 },
  { deliveredSince: 1, deliveredUntil: 2 },
  { state: "delivered", fault: "refused" },
  { userName: "host" },
  { kind: "completion", state: "delivered" },
  { name: "*_080000.xml" },
  { companyId: 1, since: 1 },
  { target: "erp", companyId: 1, state: "delivered" },
] as const satisfies readonly DeliverySelection[];

test.each(readInOrder)(
  "deliveries of %o are read from the newest on, or from where a page begins, and never sorted",
  async (selection) => {
    const [list, ids] = await waysTo(selection);
    expect(list).toEqual(["SCAN d"]);
    expect(ids).toEqual([
      expect.stringContaining("SEARCH d USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    ]);
  },
);
