import { expect, test } from "vitest";
import { visible, visibleJson } from "./visible-text.ts";

test.each([
  ["an escape sequence", "a\x1b[31mb", "a\\x1b[31mb"],
  ["a line break", "a\nb", "a\\x0ab"],
  ["a turn of direction", "invoice\u202elmx.exe", "invoice\\u{202e}lmx.exe"],
  ["a character without width", "ho\u200bst", "ho\\u{200b}st"],
  ["a filler that is a letter", "host\u3164", "host\\u{3164}"],
  ["a tag beyond the first plane", "host\u{e0041}", "host\\u{e0041}"],
  ["a separator of lines", "a\u2028b", "a\\u{2028}b"],
  ["half a character", "a\ud800", "a\\u{d800}"],
])("%s is shown as an escape", (_, text, expected) => {
  expect(visible(text)).toBe(expected);
});

test("what can be seen stays as it is", () => {
  for (const text of ["Müller & Söhne", "東京", "Ω 😀", "naïve"]) expect(visible(text)).toBe(text);
});

test("a line of JSON keeps its meaning and its end", () => {
  const value = { user: "ho\u202est \u{e0041} Müller \u2028" };
  const line = `${JSON.stringify(value)}\n`;
  const shown = visibleJson(line);
  expect(shown).toBe('{"user":"ho\\u202est \\udb40\\udc41 Müller \\u2028"}\n');
  expect(JSON.parse(shown)).toEqual(value);
  expect(visibleJson('{"a":1}\n')).toBe('{"a":1}\n');
});
