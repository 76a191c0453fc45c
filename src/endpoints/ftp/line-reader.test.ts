import { describe, expect, test } from "vitest";
import { LineReader, LineTooLong } from "./line-reader.ts";

function linesOf(...chunks: (string | number[])[]): string[] {
  const reader = new LineReader(64);
  return chunks.flatMap((chunk) =>
    reader.push(typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk)),
  );
}

const bytes = (text: string): number[] => [...Buffer.from(text)];

describe("lines", () => {
  test.each<[string, (string | number[])[], string[]]>([
    ["end with CR LF or LF alone", ["USER a\r\nPASS b\nNOOP\r\n"], ["USER a", "PASS b", "NOOP"]],
    ["may come in any pieces", ["US", "ER a\r", "\nNO", "OP\r\n"], ["USER a", "NOOP"]],
    ["keep blanks, and a CR that is not at the end", ["STOR  a\rb \r\n"], ["STOR  a\rb "]],
    ["are UTF-8, and what is not becomes U+FFFD", [[...bytes("CWD "), 0xe9, 0x0a]], ["CWD \ufffd"]],
    ["keep a NUL, which no name may have", [[...bytes("CWD a"), 0, 0x0a]], ["CWD a\0"]],
    ["wait for their end", ["QUIT"], []],
  ])("%s", (_what, chunks, lines) => {
    expect(linesOf(...chunks)).toEqual(lines);
  });

  test("of UTF-8 characters that are cut between two chunks are whole", () => {
    const [first, second] = [bytes("CWD ä\n").slice(0, 5), bytes("CWD ä\n").slice(5)];
    expect(linesOf(first, second)).toEqual(["CWD ä"]);
  });

  test("over the limit are refused, whole or unfinished", () => {
    expect(() => linesOf(`${"a".repeat(65)}\n`)).toThrow(LineTooLong);
    expect(() => linesOf("a".repeat(40), "a".repeat(40))).toThrow(LineTooLong);
    expect(linesOf(`${"a".repeat(64)}\n`)).toHaveLength(1);
  });
});

describe("Telnet's control sequences are taken out", () => {
  const [iac, ip, dm, will] = [0xff, 0xf4, 0xf2, 0xfb];
  test.each<[string, number[][], string]>([
    ["before ABOR", [[iac, ip, iac, dm, ...bytes("ABOR\n")]], "ABOR"],
    ["with the mark sent apart", [[iac, ip, iac, ...bytes("ABOR\n")]], "ABOR"],
    ["cut anywhere", [[iac], [ip, iac], [dm], bytes("ABOR\n")], "ABOR"],
    ["of three bytes", [[iac, will, 0x41, ...bytes("NOOP\n")]], "NOOP"],
    ["in the middle of a line", [[...bytes("NO"), iac, ip, ...bytes("OP\n")]], "NOOP"],
  ])("%s", (_what, chunks, line) => {
    expect(linesOf(...chunks)).toEqual([line]);
  });
});
