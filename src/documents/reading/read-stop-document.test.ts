import { cpuRatio } from "../../../test/support/cpu-time.ts";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fullStop } from "../../../test/fixtures/stop-xml/full-stop.ts";
import { readStopDocument } from "./read-stop-document.ts";
import { defaultStopDocumentLimits, type StopDocumentOutcome } from "./stop-document.ts";
import { asStop } from "./stop-reader.ts";
import { writeStopDocument } from "../../../tools/generators/stop-writer.ts";

const fixtures = new URL("../../../test/fixtures/stop-xml/", import.meta.url);
const names = readdirSync(fixtures).filter((name) => name.endsWith(".xml"));

function read(text: string, limits = defaultStopDocumentLimits): StopDocumentOutcome {
  return readStopDocument(Buffer.from(text), limits);
}

function stop(content: string): string {
  return `<Stop>\n<Function>01</Function>\n<StopNbr>1</StopNbr>\n${content}</Stop>`;
}

function firstStop(outcome: StopDocumentOutcome): Record<string, unknown> {
  if (outcome.kind !== "read") throw new Error(JSON.stringify(outcome.faults));
  return { ...outcome.document.instructions[0]?.stop };
}

function firstFault(outcome: StopDocumentOutcome) {
  if (outcome.kind !== "refused") throw new Error("the document was read");
  return outcome.faults[0];
}

const details = (count: number, content: string) =>
  stop(`<StopDetails>${`<StopDetail>${content}</StopDetail>\n`.repeat(count)}</StopDetails>`);

describe("fixtures", () => {
  test.each(names)("%s is read or refused as its expected result says", (name) => {
    const outcome = readStopDocument(readFileSync(new URL(name, fixtures)));
    const expected = JSON.parse(readFileSync(new URL(name.replace(/xml$/, "json"), fixtures), "utf8"));
    expect(JSON.parse(JSON.stringify(outcome))).toEqual(expected);
    expect(outcome.kind).toBe(name.startsWith("valid-") ? "read" : "refused");
  });
});

describe("encodings", () => {
  const text =
    '<?xml version="1.0" encoding="ENC"?>\r\n<Stop><Function>01</Function><StopNbr>1</StopNbr><BOL>Zoë\r\nß</BOL></Stop>';
  const little = Buffer.from(text.replace("ENC", "UTF-16"), "utf16le");
  const big = Buffer.from(little).swap16();
  const cases: [string, Buffer][] = [
    ["UTF-8", Buffer.from(text.replace("ENC", "UTF-8"))],
    ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${text.replace("ENC", "utf-8")}`)],
    ["UTF-16LE with a byte order mark", Buffer.concat([Buffer.from([0xff, 0xfe]), little])],
    ["UTF-16BE with a byte order mark", Buffer.concat([Buffer.from([0xfe, 0xff]), big])],
    ["UTF-16LE by its declaration", little],
    ["ISO-8859-1 by its declaration", Buffer.from(text.replace("ENC", "iso-8859-1"), "latin1")],
  ];
  test.each(cases)("%s is read with its letters, and line ends become line feeds", (_name, bytes) => {
    expect(firstStop(readStopDocument(bytes))["bol"]).toBe("Zoë\nß");
  });

  test("a declaration of UTF-16 in a document of single bytes is told as what it is", () => {
    const content = '<?xml version="1.0" encoding="UTF-16"?><Stop><BOL>Café</BOL></Stop>';
    const fault = firstFault(readStopDocument(Buffer.from(content, "latin1")));
    expect(fault).toMatchObject({
      code: "forbiddenXml",
      message: expect.stringContaining("neither that nor UTF-8"),
    });
  });

  test("bytes that are no UTF-8 are not well-formed", () => {
    const bytes = Buffer.concat([
      Buffer.from("<Stop><BOL>"),
      Buffer.from([0xe9]),
      Buffer.from("</BOL></Stop>"),
    ]);
    expect(firstFault(readStopDocument(bytes))?.code).toBe("notWellFormed");
  });
});

describe("declarations", () => {
  const content = "<Stop><Function>01</Function><StopNbr>1</StopNbr><BOL>Café</BOL></Stop>";
  const spaced = (spaces: number) =>
    `<?xml version="1.0"${" ".repeat(spaces)}encoding="ISO-8859-1"?>${content}`;

  test.each([1, 250, 4_000])("an encoding declared after %d spaces is the one that is read", (spaces) => {
    expect(firstStop(readStopDocument(Buffer.from(spaced(spaces), "latin1")))["bol"]).toBe("Café");
  });

  test("one that does not end within 4 KB is refused", () => {
    const fault = firstFault(readStopDocument(Buffer.from(spaced(4_100), "latin1")));
    expect(fault).toMatchObject({ code: "forbiddenXml", message: expect.stringContaining("over 4 KB") });
  });

  test("one that is cut off in a short document is told as incomplete", () => {
    expect(read('<?xml version="1.0" enc')).toMatchObject({ kind: "refused", isIncomplete: true });
  });

  const cafe = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>${content}`;
  const lone = `\ufeff${content.replace("é", "\ud800")}`;
  const mark = Buffer.from("\ufeff");
  test.each([
    ["Latin-1 declared as UTF-8", Buffer.from(cafe("UTF-8"), "latin1")],
    ["UTF-8 declared as ASCII", Buffer.from(cafe("US-ASCII"))],
    [
      "Latin-1 behind a byte order mark of UTF-8",
      Buffer.concat([mark, Buffer.from(cafe("latin1"), "latin1")]),
    ],
    ["Latin-1 in a comment behind the end", Buffer.from(`${content.replace("é", "e")}<!-- é -->`, "latin1")],
    ["half a surrogate pair in UTF-16", Buffer.from(lone, "utf16le")],
    ["an odd byte in UTF-16", Buffer.from([...Buffer.from(`\ufeff${content}`, "utf16le"), 0x20])],
  ])("%s is refused, not damaged", (_name, bytes) => {
    expect(firstFault(readStopDocument(bytes))?.code).toBe("notWellFormed");
  });
});

describe("what is refused before it is parsed", () => {
  const bomb = `<!DOCTYPE Stop [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 30 }, (_, i) => `<!ENTITY a${i} "${`&a${i === 0 ? "" : i - 1};`.repeat(10)}">`).join("")}]>`;

  test("a DOCTYPE is refused in UTF-8 and in both forms of UTF-16", () => {
    const text = `<?pi x?><!-- c --> <!DOCTYPE Stop SYSTEM "http://127.0.0.1/x.dtd">${stop("")}`;
    const little = Buffer.from(`\ufeff${text}`, "utf16le");
    for (const bytes of [Buffer.from(text), little, Buffer.from(little).swap16()]) {
      expect(firstFault(readStopDocument(bytes))?.code).toBe("forbiddenXml");
    }
  });

  test("an entity bomb is refused before it goes off", () => {
    const ratio = cpuRatio(
      () => expect(firstFault(read(`${bomb}${stop("<BOL>&a29;</BOL>")}`))?.code).toBe("forbiddenXml"),
      () => expect(read(stop("<BOL>1</BOL>")).kind).toBe("read"),
    );
    expect(ratio).toBeLessThan(100);
  });

  test("a schema that a document names is not loaded", () => {
    const location =
      'xsi:noNamespaceSchemaLocation="file:///etc/passwd" xsi:schemaLocation="urn:x http://127.0.0.1:1/x.xsd"';
    const root = `<Stop xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ${location}>`;
    expect(read(stop("").replace("<Stop>", root)).kind).toBe("read");
  });
});

describe("limits", () => {
  test("elements nested deeper than 64 are refused as too large, and so are those the parser itself gives up on", () => {
    const nested = (depth: number) => "<Stop>".repeat(depth) + "</Stop>".repeat(depth);
    expect(firstFault(read(nested(64)))?.code).toBe("xsdMismatch");
    expect(firstFault(read(nested(65)))?.code).toBe("tooLarge");
    expect(firstFault(read(nested(5_000)))?.code).toBe("tooLarge");
  });

  test.each([65, 300, 5_000])("%i nested elements are told with the limit of the settings", (depth) => {
    const fault = firstFault(read("<Stop>".repeat(depth) + "</Stop>".repeat(depth)));
    expect(fault?.message).toContain(
      "over its limit: elements are nested deeper than 64. Close each element",
    );
    expect(fault?.message).not.toContain("smaller parts");
  });

  test.each([
    ["a text", "x".repeat(10_000_010)],
    ["a comment", `<!--${"x".repeat(10_000_010)}-->`],
    ["a CDATA section", `<![CDATA[${"x".repeat(10_000_010)}]]>`],
  ])(
    "%s that is too long for the parser is told with the limit and a remedy that helps",
    (_what, content) => {
      const fault = firstFault(read(stop(`<BOL>${content}</BOL>`)));
      expect(fault).toMatchObject({ code: "tooLarge" });
      expect(fault?.message).toContain("a text is longer than 10000000 characters. Shorten that text");
    },
  );

  test("20,000 details are read and 20,001 are refused", () => {
    const item = "<Quantity>1</Quantity>";
    expect(firstStop(read(details(20_000, item)))["stopDetails"]).toHaveLength(20_000);
    expect(firstFault(read(details(20_001, item)))).toMatchObject({ code: "tooLarge", line: 20_004 });
  });

  test("500 stops are read and 501 are refused", () => {
    const one = "<Stop><Function>02</Function><StopNbr>1</StopNbr></Stop>";
    expect(read(`<Stops>${one.repeat(500)}</Stops>`).kind).toBe("read");
    expect(firstFault(read(`<Stops>${one.repeat(501)}</Stops>`))?.code).toBe("tooLarge");
  });

  test("a text node over its limit and a document over its size are refused as too large", () => {
    expect(firstFault(read(stop(`<BOL>${"x".repeat(10_000_010)}</BOL>`)))?.code).toBe("tooLarge");
    expect(
      firstFault(read(stop("<BOL>12345</BOL>"), { ...defaultStopDocumentLimits, maxTextLength: 4 }))?.code,
    ).toBe("tooLarge");
    expect(firstFault(read(stop(""), { ...defaultStopDocumentLimits, maxBytes: 10 }))?.code).toBe("tooLarge");
  });

  test("of 10,000 invalid elements the first 51 are kept, in few words", () => {
    const outcome = read(details(10_000, "<Quantity>two</Quantity>"));
    expect(outcome.kind === "refused" && outcome.faults.length).toBe(51);
    expect(JSON.stringify(outcome).length).toBeLessThan(20_000);
  });

  test("faults of values and of the XSD are told together, from the top, each once", () => {
    const outcome = read(
      stop(
        `<EarliestStartDTTM>2026-02-30T08:00:00</EarliestStartDTTM>\n<Nonsense/>\n<TimeZone>Mars/X</TimeZone>\n`,
      ),
    );
    if (outcome.kind !== "refused") throw new Error("it was read");
    const told = outcome.faults.map(({ code, path }) => `${code} ${path}`);
    expect(told).toEqual([
      "badDate /Stop/EarliestStartDTTM",
      expect.stringMatching(/^xsd\w* .*Nonsense/i),
      "badDate /Stop/TimeZone",
    ]);
    expect(outcome.faults.every(({ stopNbr }) => stopNbr === "1")).toBe(true);
  });

  test("a fault does not repeat a huge value", () => {
    expect(
      firstFault(read(stop(`<TotalPrice>${"x".repeat(1_000_000)}</TotalPrice>`)))?.message.length,
    ).toBeLessThan(300);
  });
});

describe("a document that ends too early", () => {
  const whole = Buffer.from(
    `<?xml version="1.0"?>\n${stop('<!-- c --><BOL><![CDATA[é<x]]>ü&amp;</BOL>\n<Weight UOM="LB">1</Weight>\n')}`,
  );

  test.each(["\n", ""])("is incomplete wherever it is cut (line ends: %j)", (lineEnd) => {
    const bytes = Buffer.from(whole.toString().replaceAll("\n", lineEnd));
    for (let length = 0; length < bytes.length; length++) {
      const outcome = readStopDocument(bytes.subarray(0, length));
      expect(outcome, `cut at ${length}`).toMatchObject({ kind: "refused", isIncomplete: true });
    }
  });

  test("is incomplete when the rest of the file is still zero bytes", () => {
    const bytes = Buffer.concat([whole.subarray(0, 60), Buffer.alloc(200)]);
    expect(readStopDocument(bytes)).toMatchObject({ isIncomplete: true });
  });

  test("is not incomplete when the fault stands before the end", () => {
    expect(read(stop("<BOL>a & b</BOL>"))).toMatchObject({ isIncomplete: false });
    expect(read(stop("<BOL>a & b</BOL>\n<Weight>1</Wei").slice(0, -7))).toMatchObject({
      isIncomplete: false,
    });
  });
});

test("a document that fills every element of the table is read back with nothing lost", () => {
  const full = fullStop();
  const outcome = read(writeStopDocument({ instructions: [{ function: "01", stop: asStop(full) }] }));
  expect(firstStop(outcome)).toEqual(full);
});
