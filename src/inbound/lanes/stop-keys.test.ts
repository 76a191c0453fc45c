import { expect, test } from "vitest";
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import { stopKeysOf } from "./stop-keys.ts";

const refused = (firstStopNbr?: string): PreparedDocument => ({
  ...{ kind: "refused", sha256: "", size: 1, faults: [], isIncomplete: false },
  ...(firstStopNbr === undefined ? {} : { firstStopNbr }),
});

test.each([
  ["1007_20261105_080000.xml", undefined, ["1007"]],
  ["AB-7_20261105_080000.xml", undefined, ["ab-7"]],
  ["AB-7_20261105_080000.XML", refused("AB/7"), ["ab-7"]],
  ["1007_20261105_080000.xml", refused("1008"), ["1007", "1008"]],
  ["1007_20261105_080000.xml", refused(), ["1007"]],
  ["orders.xml", undefined, []],
  ["orders.xml", refused("A B"), ["a-b"]],
])("%s (%j) is about the stops %j", (name, prepared, keys) => {
  expect(stopKeysOf(name, prepared)).toEqual(keys);
});
