import { closeSync, openSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { XmlEncoding } from "../../../documents/xml/xml-encoding.ts";
import { type FoundLines, type LineLimits, type LineRange, readLines } from "./file-lines.ts";

const limits: LineLimits = { maxLineBytes: 100, maxShownBytes: 10_000, maxSearchedBytes: 100_000_000 };
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "dropgate-lines-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function linesOf(
  bytes: Buffer | string,
  ranges: readonly LineRange[],
  options: Partial<LineLimits> & { readonly encoding?: XmlEncoding } = {},
): Promise<FoundLines> {
  const path = join(folder, "file.xml");
  await writeFile(path, bytes);
  const { encoding = "utf8", ...some } = options;
  const fd = openSync(path, "r");
  try {
    return await readLines(fd, { encoding, ranges }, { ...limits, ...some });
  } finally {
    closeSync(fd);
  }
}

const texts = ({ lines }: FoundLines) => lines.map(({ number, text }) => `${number} ${text}`);

describe("lines of a file", () => {
  it("are counted by line feeds, whatever stands before them", async () => {
    const found = await linesOf("<a>\r\n<b/>\r\r\n\n</a>", [{ from: 1, to: 9 }]);
    expect(texts(found)).toEqual(["1 <a>", "2 <b/>\r", "3 ", "4 </a>"]);
    expect(found).toMatchObject({ lastLine: 4, isWholeSearched: true, isBudgetSpent: false });
  });

  it("are those of the ranges, far inside a large file too", async () => {
    const text = Array.from({ length: 300_000 }, (_, index) => `<row n="${index + 1}"/>`).join("\n");
    const found = await linesOf(text, [
      { from: 2, to: 3 },
      { from: 299_999, to: 299_999 },
    ]);
    expect(texts(found)).toEqual(['2 <row n="2"/>', '3 <row n="3"/>', '299999 <row n="299999"/>']);
    expect(found.lastLine).toBe(300_000);
  });

  it("of UTF-16 are read as such, and half letters are no line feeds", async () => {
    const text = "\uFEFF<a>\n\u0A61\u0100\u0A61</a>\n";
    for (const encoding of ["utf16le", "utf16be"] as const) {
      const bytes = Buffer.from(text, "utf16le");
      const found = await linesOf(encoding === "utf16be" ? bytes.swap16() : bytes, [{ from: 1, to: 9 }], {
        encoding,
      });
      expect(texts(found)).toEqual(["1 <a>", "2 \u0A61\u0100\u0A61</a>", "3 "]);
    }
  });

  it("show bytes that are none of the encoding as replacement characters", async () => {
    const found = await linesOf(Buffer.from([0x3c, 0xff, 0xfe, 0x00, 0x0a, 0x41]), [{ from: 1, to: 2 }]);
    expect(texts(found)).toEqual(["1 <\uFFFD\uFFFD\u0000", "2 A"]);
  });

  it("are cut where they are too long, between letters", async () => {
    const found = await linesOf(`${"ä".repeat(60)}\nnext`, [{ from: 1, to: 2 }], { maxLineBytes: 99 });
    expect(found.lines[0]).toEqual({ number: 1, text: "ä".repeat(49), isCut: true });
    expect(found.lines[1]).toEqual({ number: 2, text: "next", isCut: false });
  });

  it("are left out when all of them are long enough", async () => {
    const found = await linesOf("1234567890\n".repeat(50), [{ from: 1, to: 50 }], { maxShownBytes: 35 });
    expect(found.lines.map(({ text }) => text.length)).toEqual([10, 10, 10, 5]);
    expect(found.isBudgetSpent).toBe(true);
  });

  it("a single line of 20 MB takes no more memory than what is shown of it", async () => {
    const found = await linesOf(Buffer.alloc(20_000_000, "x"), [{ from: 1, to: 10 }]);
    expect(found.lines).toEqual([{ number: 1, text: "x".repeat(100), isCut: true }]);
    expect(found.isWholeSearched).toBe(true);
  });

  it("are not searched for beyond the limit, which is told", async () => {
    const found = await linesOf("a\n".repeat(500_000), [{ from: 499_000, to: 499_001 }], {
      maxSearchedBytes: 300_000,
    });
    expect(found).toMatchObject({ lines: [], isWholeSearched: false });
  });

  it("of an empty file are one empty line", async () => {
    expect(texts(await linesOf("", [{ from: 1, to: 5 }]))).toEqual(["1 "]);
  });
});
