import { describe, expect, test } from "vitest";
import {
  escapeHtml,
  escapeJson,
  escapeUrl,
  fillTemplate,
  oneLine,
  readTemplate,
  shortened,
} from "./message-template.ts";

const known = new Set(["stop.stopNbr", "eta.time"]);
const values = new Map([
  ["stop.stopNbr", "S1"],
  ["eta.time", ""],
]);

describe("a template", () => {
  test.each([
    ["", ""],
    ["no names", "no names"],
    ["{{stop.stopNbr}}", "S1"],
    ["a {{ stop.stopNbr }} b {{stop.stopNbr}}{{eta.time}} c", "a S1 b S1 c"],
    ["one { and } are text, }} too", "one { and } are text, }} too"],
  ])("%j becomes %j", (text, filled) => expect(fillTemplate(text, values)).toBe(filled));

  test("tells which names it uses", () => {
    expect(readTemplate("{{eta.time}} {{eta.time}}", known)).toMatchObject({ names: new Set(["eta.time"]) });
  });

  test.each([
    ["{{eta}}", "there is no {{eta}}; there is {{stop.stopNbr}}, {{eta.time}}"],
    ["a\nb {{Eta.time}}", "there is no {{Eta.time}} (line 2 of the text)"],
    ["{{constructor}}", "there is no {{constructor}}"],
    ["a {{eta.time", "{{ that no }} closes"],
    ["{{{eta.time}}}", "has {{{"],
    ["{{}}", "there is no {{}}"],
  ])("%j is faulty", (text, fault) => {
    const reading = readTemplate(text, known);
    expect(reading.kind === "faulty" ? reading.fault : "").toContain(fault);
    expect(() => fillTemplate(text, values)).toThrow("a template");
  });

  test("a value is never read as a template", () => {
    expect(fillTemplate("{{stop.stopNbr}}", new Map([["stop.stopNbr", "{{eta.time}} $& {{"]]))).toBe(
      "{{eta.time}} $& {{",
    );
  });
});

describe("a value", () => {
  test("cannot leave an element or an attribute of HTML", () => {
    expect(escapeHtml(`<img src="x" onerror='a(1)'>&\``)).toBe(
      "&lt;img src=&quot;x&quot; onerror=&#39;a(1)&#39;&gt;&amp;&#96;",
    );
  });

  test("cannot leave a JSON string", () => {
    const evil = '", "to": "+1\\\n\u2028';
    const text = fillTemplate('{"text": "{{text}}"}', new Map([["text", evil]]), escapeJson);
    expect(JSON.parse(text)).toEqual({ text: evil });
  });

  test("cannot leave its place in an address or a form", () => {
    expect(escapeUrl("a&to=+1 #?/\ud800")).toBe("a%26to%3D%2B1%20%23%3F%2F%EF%BF%BD");
  });

  test("is on one line, without marks that turn its direction", () => {
    expect(oneLine("a\r\nBcc: b\u0000\u2028c\u202ed\ttail ")).toBe("a Bcc: b c d tail");
  });

  test.each([
    ["short", 5, "short"],
    ["too long", 5, "too…"],
    ["👩‍👩‍👧 family", 9, "👩‍👩‍👧…"],
    ["👩‍👩‍👧", 4, "…"],
  ])("%j of at most %i is %j", (text, length, cut) => {
    expect(shortened(text, length)).toBe(cut);
    expect(shortened(text, length).length).toBeLessThanOrEqual(length);
  });
});
