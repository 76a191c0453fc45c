import { describe, expect, it } from "vitest";
import { tableLines } from "./table.ts";

describe("a table", () => {
  it("is aligned, numbers to the right, without spaces at the ends of lines", () => {
    const lines = tableLines(
      ["ID", "NAME", "STOP"],
      [
        [7, "a.xml", "4711"],
        [12, "long-name.xml", ""],
      ],
    );
    expect(lines).toEqual(["ID  NAME           STOP", " 7  a.xml          4711", "12  long-name.xml"]);
  });

  it("shows control characters of names without passing them on", () => {
    expect(tableLines(["NAME"], [["\u001b[2Jx\n.xml"]])).toEqual(["NAME", "\\x1b[2Jx\\x0a.xml"]);
  });
});
