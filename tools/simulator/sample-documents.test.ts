import { inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { createRandom } from "./random.ts";
import { notePdf, signaturePng } from "./sample-documents.ts";

test("a signature is a PNG with as many pixels as it says, and another one for another seed", () => {
  const png = signaturePng(createRandom(1));
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const at = png.indexOf("IDAT");
  const pixels = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
  expect(pixels.length).toBe(height * (1 + width / 8));
  expect(pixels.some((byte) => byte !== 0xff && byte !== 0)).toBe(true);
  expect(signaturePng(createRandom(1)).equals(png)).toBe(true);
  expect(signaturePng(createRandom(2)).equals(png)).toBe(false);
});

test("a delivery note is a PDF whose table names the place of each object", () => {
  const text = notePdf(["Note (1)", "Straße 5"]).toString("latin1");
  const places = [...text.matchAll(/^(\d{10}) 00000 n $/gm)].map(([, place]) => Number(place));
  expect(places.length).toBe(5);
  for (const [index, place] of places.entries())
    expect(text.slice(place, place + 7)).toBe(`${index + 1} 0 obj`);
  const start = Number(/startxref\n(\d+)\n/.exec(text)?.[1]);
  expect(text.slice(start, start + 4)).toBe("xref");
  expect(text).toContain("(Note \\(1\\)) Tj");
  const [, length, content] = /<< \/Length (\d+) >>\nstream\n(.*)\nendstream/s.exec(text) ?? [];
  expect(content?.length).toBe(Number(length));
});
