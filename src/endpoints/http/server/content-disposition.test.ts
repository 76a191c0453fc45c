import { expect, it } from "vitest";
import { attachment } from "./content-disposition.ts";

it.each([
  ["bol.pdf", 'attachment; filename="bol.pdf"'],
  ["two words.pdf", 'attachment; filename="two words.pdf"'],
  [null, 'attachment; filename="guid"'],
  ["", 'attachment; filename="guid"'],
  [" .. ", 'attachment; filename="guid"'],
  ["../../etc/passwd", 'attachment; filename=".._.._etc_passwd"'],
  ["a\\b.pdf", 'attachment; filename="a_b.pdf"'],
  ["a\r\nSet-Cookie: x", 'attachment; filename="a__Set-Cookie: x"'],
  ['a"; x="b', "attachment; filename=\"a_; x=_b\"; filename*=UTF-8''a%22%3B%20x%3D%22b"],
  ["50%20.pdf", "attachment; filename=\"50_20.pdf\"; filename*=UTF-8''50%2520.pdf"],
  [
    "Frachtbrief für (A).pdf",
    "attachment; filename=\"Frachtbrief f_r (A).pdf\"; filename*=UTF-8''Frachtbrief%20f%C3%BCr%20%28A%29.pdf",
  ],
  ["evil\u202efdp.exe", 'attachment; filename="evil_fdp.exe"'],
  ["half \ud83d.pdf", "attachment; filename=\"half _.pdf\"; filename*=UTF-8''half%20%EF%BF%BD.pdf"],
])("the name %j is given as every client reads it", (name, expected) => {
  expect(attachment(name, "guid")).toBe(expected);
});

it("a long name keeps its extension and fits a header", () => {
  const header = attachment(`${"鶴".repeat(2_000)}.pdf`, "guid");
  expect(header.length).toBeLessThan(2_000);
  expect(header).toMatch(/\.pdf$/);
});
