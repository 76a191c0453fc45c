import { expect, it } from "vitest";
import { named, namedColumns } from "./named-rows.ts";

it("a row has the names of the program, however many parts a column has", () => {
  const row = { id: 1, stop_nbr_key: "s1", addr1: null, first_attempt_at: 7 };
  expect(named(row)).toEqual({ id: 1, stopNbrKey: "s1", addr1: null, firstAttemptAt: 7 });
});

it("columns are selected under these names, those of a joined table too", () => {
  expect(namedColumns("id", "t.company_id", "s.stop_nbr")).toEqual([
    "id as id",
    "t.company_id as companyId",
    "s.stop_nbr as stopNbr",
  ]);
});
