import { describe, expect, it } from "vitest";
import { indexFields, readLegacyQuery } from "./legacy-filter.ts";

const stops = indexFields({ stopNbr: true, loadId: { loadNbr: true } });
const loads = indexFields({ loadNbr: true, carrierCode: true });

describe("a filter by a field that the result has not", () => {
  it.each([
    ["loads", loads, "stopNbr", "loadNbr"],
    ["stops", stops, "colour", "stopNbr"],
  ])("of %s is refused, naming a field that there is", (_what, index, name, named) => {
    const fault = { code: "unknownFilter", path: name };
    const read = () => readLegacyQuery(index, [{ name, value: "1" }]);
    expect(read).toThrow(
      expect.objectContaining({ code: "unknownFilter", faults: [expect.objectContaining(fault)] }),
    );
    expect(read).toThrow(`${name} is not a field of the result. Filter by a field such as ${named}, or`);
    expect(readLegacyQuery(index, [{ name: named, value: "1" }]).filters).toHaveLength(1);
  });
});
