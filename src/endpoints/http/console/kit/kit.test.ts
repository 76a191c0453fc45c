/** The components of pages, mostly with texts that were made to break them. */
import { describe, expect, it } from "vitest";
import { countText, figure, sizeText } from "./amounts.ts";
import { badge } from "./badge.ts";
import { areaField, checkField, selectField, textField } from "./fields.ts";
import { filterForm, reasonForm } from "./forms.ts";
import { type Html, html } from "./html.ts";
import { addresses, link, withQuery } from "./link.ts";
import { notice, remedy } from "./notice.ts";
import { pager } from "./pager.ts";
import { columns, details, facts, section } from "./section.ts";
import { code, listing, prose, sentence, shortened, shown } from "./shown-text.ts";
import { table } from "./table.ts";
import { durationText, timeText, timeWithLocal } from "./times.ts";

const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>\u202e&amp;`;

describe("no component lets the text of others become HTML", () => {
  const components: readonly (readonly [name: string, made: Html])[] = [
    ["shown", shown(hostile)],
    ["shortened", shortened(hostile.repeat(40))],
    ["code", code(hostile)],
    ["listing", listing(hostile, hostile)],
    ["badge", badge("bad", hostile)],
    ["table", table([hostile, { text: hostile, isNumber: true }], [[hostile, hostile]], tableWords)],
    ["empty table", table([hostile], [], { caption: hostile, empty: hostile })],
    ["pager", pager({ first: hostile, next: hostile })],
    ["facts", facts([[hostile, hostile]])],
    ["section", section(hostile, hostile, { tools: hostile })],
    ["details", details(hostile, hostile, true)],
    ["columns", columns(hostile, hostile)],
    ["notice", notice("wait", hostile)],
    ["remedy", remedy(hostile)],
    ["link", link(hostile, hostile)],
    ["figure", figure(hostile, hostile, hostile)],
    ["text field", textField({ name: "a", label: hostile, value: hostile, hint: hostile, error: hostile })],
    ["area", areaField({ name: "a", label: hostile, value: `</textarea>${hostile}` })],
    ["select", selectField({ name: "a", label: hostile, value: hostile, options: [[hostile, hostile]] })],
    ["check", checkField({ name: "a", label: hostile, value: hostile })],
    ["filter", filterForm({ action: hostile, fields: hostile, isFiltered: true })],
    ["reason", reasonForm({ ...act, label: hostile, explanation: hostile, error: hostile, reason: hostile })],
    ["time", timeWithLocal(0, { text: hostile, zone: hostile })],
  ];

  it.each(components)("%s", (_name, { text }) => {
    expect(text).not.toContain("<script");
    expect(text).not.toContain("<img");
    expect(text).not.toContain("</textarea>&");
    expect(text).toContain("&lt;script&gt;");
    // Every quote that is left is one of ours, so they come in pairs within each tag.
    for (const [tag] of text.matchAll(/<[^>]*>/g)) expect(tag.split('"').length % 2, tag).toBe(1);
  });
});

const tableWords = { caption: hostile, empty: hostile };
const act = { id: "act", action: "/x", formToken: "t", label: "Do", explanation: "It is done." };

describe("texts of others", () => {
  it("can be broken where marks are piled up on one letter, and nowhere else", () => {
    const pile = "\u0336".repeat(18);
    expect(shown(`z${pile}`).text.match(/<wbr>/g)).toHaveLength(2);
    for (const text of ["Ångström", "e\u0301\u0323", `z${pile.slice(2)}`, "नमस्ते"])
      expect(shown(text).text).not.toContain("<wbr>");
    expect(shortened(`${"a".repeat(90)}z${pile}${"b".repeat(90)}`).text).toContain("<wbr>");
  });

  it("are isolated, and what nobody would see is shown", () => {
    expect(shown("invoice\u202elmx.exe\u0000").text).toBe(
      '<bdi class="foreign">invoice\\u{202e}lmx.exe\\x00</bdi>',
    );
    expect(code("a\u200bb").text).toBe("<code><bdi>a\\u{200b}b</bdi></code>");
  });

  it("keep their lines, the first one too, where they are shown whole", () => {
    expect(listing("\na\tb\r\nc", "Document").text).toBe(
      '<pre class="foreign" role="group" aria-label="Document" tabindex="0">\n\na\tb\nc</pre>',
    );
  });

  it("are cut in lists, with more of them in the title, and never within a character", () => {
    const { text } = shortened("😀".repeat(2_000), 11);
    expect(text.replace(/ title="[^"]*"/, "")).toBe(`<bdi class="foreign">${"😀".repeat(5)}…</bdi>`);
    expect(text.length).toBeLessThan(2_200);
    expect(shortened("short").text).toBe(shown("short").text);
  });
});

describe("sentences of ours", () => {
  const at = "2026-11-05T08:20:05.123Z";
  const time = '<time datetime="2026-11-05T08:20:05.123Z">2026-11-05 08:20:05 UTC</time>';

  it("have their moments as times, which the script shows in the zone of the viewer", () => {
    expect(sentence(`Refused ${at}. Stop 1.`).text).toBe(
      `<bdi class="foreign">Refused ${time}. Stop 1.</bdi>`,
    );
    expect(prose(`paused since ${at} (\`dropgate target resume ${at}\`)`).text).toBe(
      `paused since ${time} (<code class="command">dropgate target resume ${at}</code>)`,
    );
  });

  it("leave names of others as they are, also those that look like moments", () => {
    for (const name of [`${at}.xml`, `a-${at}`, `x/${at}`, `${at}_1`, "2026-13-45T08:20:05Z", "<b>"])
      expect(sentence(`as ${name} (applied)`).text).not.toMatch(/<time|<b>/);
  });
});

describe("moments and lengths of time", () => {
  it("are UTC, with the moment itself for the script", () => {
    expect(timeText(1_793_866_805_123).text).toBe(
      '<time datetime="2026-11-05T08:20:05.123Z">2026-11-05 08:20:05 UTC</time>',
    );
    expect(timeText(1_793_866_805_123, { isPrecise: true }).text).toContain(
      "data-precise>2026-11-05 08:20:05.123 UTC<",
    );
    expect(timeText(null).text).toBe('<span class="none">–</span>');
    expect(timeWithLocal(0, { text: "01:00", zone: "Europe/Berlin" }).text).toContain(
      '(01:00 <span class="unbroken">Europe/<wbr>Berlin</span> at the stop)',
    );
    expect(timeWithLocal(0, undefined).text).toBe(timeText(0).text);
  });

  it.each([
    [0, "0 ms"],
    [999.4, "999 ms"],
    [1_000, "1 s"],
    [59_999, "59 s"],
    [60_000, "1 min"],
    [185_000, "3 min 5 s"],
    [2 * 3_600_000 + 60_000, "2 h 1 min"],
    [3 * 86_400_000 + 3 * 3_600_000, "3 d 3 h"],
    [-61_000, "1 min 1 s before"],
  ])("%d ms is %s", (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});

describe("amounts", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1.00 kB"],
    [9_996, "10.0 kB"],
    [123_456, "123 kB"],
    [999_600, "1.00 MB"],
    [5.2e12, "5.20 TB"],
    [4e15, "4000 TB"],
    [null, "–"],
  ])("%s bytes are %s", (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });

  it("have their thousands apart", () => {
    expect([0, 999, 1_000, 1_234_567].map(countText)).toEqual([
      "0",
      "999",
      "1\u202f000",
      "1\u202f234\u202f567",
    ]);
  });
});

describe("tables", () => {
  it("have a caption, headings with their scope, and a region that can be scrolled by keys", () => {
    const { text } = table(["File", { text: "Size", isNumber: true }], [[link("/f", "a.xml"), 3]], {
      ...{ caption: "Files", empty: "none", id: "files" },
    });
    expect(text).toContain('<div class="table" id="files" role="group" aria-label="Files" tabindex="0">');
    expect(text).toContain('<th scope="col" class="number">Size</th>');
    expect(text).toContain('<th scope="row"><a href="/f">a.xml</a></th>');
    expect(text).toContain('<td class="number" data-label="Size">3</td>');
    expect(text).toMatch(/<caption>\s*Files/);
  });

  it("say what it means that nothing is in them", () => {
    const { text } = table(["File"], [], { caption: "Files", empty: "No file has come.", id: "files" });
    expect(text).toBe('<div id="files"><p class="nothing">No file has come.</p></div>');
  });
});

describe("forms", () => {
  it("put nothing into a field for a day that is no day", () => {
    const dayOf = (value: string) => textField({ name: "from", label: "From", type: "date", value }).text;
    expect([dayOf("2026-11-05"), dayOf("tomorrow")]).toEqual([
      expect.stringContaining('value="2026-11-05"'),
      expect.stringContaining('value=""'),
    ]);
  });

  it("have a label for each field, and tie hint and fault to it", () => {
    const { text } = textField({ name: "q", label: "Find", hint: "A name", error: "Too long", maxLength: 9 });
    expect(text).toContain('<label for="field-q">Find</label>');
    expect(text).toContain('aria-describedby="field-q-hint field-q-error" aria-invalid="true"');
    expect(text).toContain('<span class="fault" id="field-q-error">Too long</span>');
    expect(text).toContain('maxlength="9"');
  });

  it("keep the first line break of a text area", () => {
    expect(areaField({ name: "a", label: "A", value: "\nx" }).text).toContain(">\n\nx</textarea>");
  });

  it("that act have the token and ask for a reason; one that was refused is open", () => {
    const { text } = reasonForm(act);
    expect(text).toContain('<form method="post" action="/x">');
    expect(text).toContain('<input type="hidden" name="formToken" value="t">');
    expect(text).toMatch(/name="reason" required maxlength="500"/);
    expect(text).not.toContain(" open");
    expect(reasonForm({ ...act, error: "Say why." }).text).toContain(" open");
  });
});

describe("addresses", () => {
  const to = addresses({ basePath: () => "/rest" });

  it("are below the base path, with every part encoded", () => {
    expect(to.at("")).toBe("/rest/console");
    expect(to.stop("ACME", "a/b?c#d e")).toBe("/rest/console/stops/ACME/a%2Fb%3Fc%23d%20e");
    expect(to.file("f_1")).toBe("/rest/console/files/f_1");
  });

  it("have the fields that are set in their query", () => {
    expect(withQuery("/x", { a: "1 &2", b: undefined, c: "", d: 0 })).toBe("/x?a=1+%262&d=0");
    expect(withQuery("/x", {})).toBe("/x");
  });
});

it("a template takes nothing but what is escaped or was made by one", () => {
  expect(html`<a title="${hostile}">${[hostile, undefined, null, false, 1]}</a>`.text).not.toContain(
    "<script",
  );
});

it("shows commands of the catalogues as code, which one click selects, and markup in them runs nothing", () => {
  expect(prose("`dropgate check` says it; see `a<b>`.").text).toBe(
    '<code class="command">dropgate check</code> says it; see <code class="command">a&lt;b&gt;</code>.',
  );
  expect(prose("a ` alone, and `x` ` again").text).not.toContain('<code class="command"> again');
  expect(prose("plain").text).toBe("plain");
});
