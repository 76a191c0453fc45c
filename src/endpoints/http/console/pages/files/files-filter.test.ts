import { describe, expect, test } from "vitest";
import { dayMs } from "../../../../../lib/durations.ts";
import { filterQuery, readFilter } from "./files-filter.ts";

const read = (query: string) => readFilter(new URLSearchParams(query));
const day = Date.UTC(2026, 10, 5);

describe("the filter of files", () => {
  test.each([
    ["", {}],
    ["state=refused&reason=951&company=ACME", { state: "refused", reason: 951, company: "ACME" }],
    ["name=%204711*&user=&channel=sftp", { name: "4711*", channel: "sftp" }],
    ["from=2026-11-05&to=2026-11-06", { since: day, until: day + 2 * dayMs }],
    ["day=2026-11-05&to=2026-12-01", { since: day, until: day + dayMs }],
    ["to=2026-11-05", { until: day + dayMs }],
  ])("is read from %j", (query, filter) => {
    expect(read(query)).toMatchObject({ filter, faults: {} });
    expect(Object.keys(read(query).filter ?? {}).toSorted()).toEqual(Object.keys(filter).toSorted());
  });

  test.each([
    ["state=done", "state"],
    ["reason=951x", "reason"],
    ["reason=1", "reason"],
    ["from=2026-02-30", "from"],
    ["to=5.11.2026", "to"],
    ["from=2026-11-06&to=2026-11-05", "to"],
  ])("has a fault in %j at its field", (query, field) => {
    expect(read(query).filter).toBeUndefined();
    expect(Object.keys(read(query).faults)).toEqual([field]);
  });

  test("asks for the same again, a day as first and last day", () => {
    const again = filterQuery(read("day=2026-11-05&state=applied").texts);
    expect(read(String(new URLSearchParams(again))).filter).toEqual({
      ...{ state: "applied", since: day, until: day + dayMs },
    });
  });
});
