import { describe, expect, test } from "vitest";
import { DocumentEnds } from "./document-ends.ts";

function isWhole(content: Buffer, pieceBytes: number): boolean {
  const ends = new DocumentEnds();
  for (let at = 0; at < content.length; at += pieceBytes) ends.take(content.subarray(at, at + pieceBytes));
  return ends.isWhole;
}

const long = `<Stop>${"<ShipToName>x</ShipToName>".repeat(2_000)}</Stop>\n`;
const two = "<Stops><Stop>1</Stop><Stop>2</Stop></Stops>";

describe.each([1, 7, 255, 256, 257, 100_000])("in pieces of %i bytes", (pieceBytes) => {
  test.each<[string, string, boolean]>([
    ["an element", "<Stop><StopNbr>1</StopNbr></Stop>", true],
    [
      "a declaration, a comment and blanks around it",
      '<?xml version="1.0"?>\n<!-- <a> -->\n<Stop a="1">x</Stop >\r\n\n',
      true,
    ],
    ["a long one", long, true],
    ["a prefix", '<d:Stop xmlns:d="x"></d:Stop>', true],
    ["a list cut behind one of its elements", two.slice(0, two.indexOf("<Stop>2")), false],
    ["the whole list", two, true],
    ["one that is cut", long.slice(0, -9), false],
    ["nothing", "", false],
    ["no XML", "hello", false],
    ["an empty element, which ends as others do inside", "<Stop/>", false],
    [
      "a comment that hides the first element",
      `<!-- ${"<Stop>".repeat(1_000)} --><Stops><Stop>1</Stop>`,
      false,
    ],
  ])("%s", (_what, text, expected) => {
    expect(isWhole(Buffer.from(text), pieceBytes)).toBe(expected);
    if (pieceBytes > 1) expect(isWhole(Buffer.from(text, "utf16le"), pieceBytes)).toBe(expected);
  });
});
