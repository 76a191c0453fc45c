import { describe, expect, it } from "vitest";
import { differenceOfStops } from "./stop-difference.ts";

describe("the difference of two stops", () => {
  it("names each field that was changed, added or taken away", () => {
    const before = JSON.stringify({ stopNbr: "1", weight: 5, to: { address: { zip: "1", city: "A" } } });
    const after = JSON.stringify({ stopNbr: "1", bol: "b", to: { address: { zip: "2", city: "A" } } });
    expect(differenceOfStops(before, after)).toEqual([
      { path: "weight", before: 5, after: undefined },
      { path: "to.address.zip", before: "1", after: "2" },
      { path: "bol", before: undefined, after: "b" },
    ]);
  });

  it("is empty for equal stops, whatever the order of their fields", () => {
    expect(differenceOfStops('{"a":1,"b":[1,2]}', '{"b":[1,2],"a":1}')).toEqual([]);
  });
});
