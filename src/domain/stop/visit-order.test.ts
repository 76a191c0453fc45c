import { expect, test } from "vitest";
import { stopSeqNumberOf, visitOrder } from "./visit-order.ts";

function orderOf(...sequence: readonly (string | number | undefined)[]): readonly number[] {
  const stops = sequence.map((stopSeq, index) => ({
    ...{ id: index + 1, listedPosition: index, stopSeq: stopSeqNumberOf(stopSeq) ?? null },
  }));
  return visitOrder(stops).map(({ listedPosition }) => listedPosition);
}

test.each([
  [
    [3, 1, 2],
    [1, 2, 0],
  ],
  [
    ["3", "01", " 2 "],
    [1, 2, 0],
  ],
  [
    [1, "-1", -2],
    [2, 1, 0],
  ],
  [
    ["10", "9", "9.5"],
    [1, 2, 0],
  ],
  [
    [2, "2.0", 1],
    [0, 1, 2],
  ],
  [
    [3, 1, undefined],
    [0, 1, 2],
  ],
  [
    [3, "A1", 2],
    [0, 1, 2],
  ],
  [
    [3, "", 2],
    [0, 1, 2],
  ],
  [
    [3, "-", 2],
    [0, 1, 2],
  ],
  [
    [-1, 3, 0],
    [0, 2, 1],
  ],
  [[], []],
])("stops of %j are visited as %j", (sequence, order) => expect(orderOf(...sequence)).toEqual(order));
