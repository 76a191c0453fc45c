import { expect, test } from "vitest";
import { readXmlValue } from "./read-xml-value.ts";

function read(xml: string | Buffer) {
  return readXmlValue(Buffer.isBuffer(xml) ? xml : Buffer.from(xml));
}

/** What the expression sees, as JSON shows it. */
function json(xml: string): unknown {
  const outcome = read(xml);
  if (outcome.kind === "refused") throw new Error(outcome.fault.message);
  return JSON.parse(JSON.stringify(outcome.value));
}

test.each([
  ["text", "<a>x</a>", { a: "x" }],
  ["an empty element", "<a/>", { a: "" }],
  ["white space in a leaf, which stays", "<a> x\n</a>", { a: " x\n" }],
  ["references and CDATA", "<a>1 &lt; 2 &#233;<![CDATA[<b>&amp;]]></a>", { a: "1 < 2 é<b>&amp;" }],
  ["comments and instructions, which go", "<a>x<!-- y --><?z?>w</a>", { a: "xw" }],
  ["attributes", "<a b='1' c=\"&amp;\"/>", { a: { "@b": "1", "@c": "&" } }],
  ["attributes and text", "<a b='1'>x</a>", { a: { "@b": "1", "#text": "x" } }],
  ["children, once and repeated", "<a><b>1</b><c>2</c><b>3</b></a>", { a: { b: ["1", "3"], c: "2" } }],
  ["white space between children, which goes", "<a>\n  <b>1</b>\n</a>", { a: { b: "1" } }],
  ["mixed content", "<a>x <b>1</b> y</a>", { a: { b: "1", "#text": "x  y" } }],
  [
    "prefixes, which go with their declarations",
    "<p:a xmlns:p='u' p:b='1'><p:c/></p:a>",
    { a: { "@b": "1", c: "" } },
  ],
  [
    "names that objects have of their own",
    "<a><constructor>1</constructor><toString/></a>",
    { a: { constructor: "1", toString: "" } },
  ],
  ["numbers as text, with every digit", "<a>00123456789012345678.10</a>", { a: "00123456789012345678.10" }],
])("an XML document becomes JSON: %s", (_what, xml, expected) => {
  expect(json(xml)).toEqual(expected);
});

test("#elements has the children in their order, and does not show among the others", () => {
  const outcome = read("<a><b>1</b><c/><b>2</b></a>");
  if (outcome.kind === "refused") throw new Error(outcome.fault.message);
  const a = outcome.value["a"] ?? "";
  expect(Reflect.get(Object(a), "#elements")).toEqual([
    { name: "b", value: "1" },
    { name: "c", value: "" },
    { name: "b", value: "2" },
  ]);
  expect(Object.keys(a)).toEqual(["b", "c"]);
});

test("encodings are told by byte order mark and declaration", () => {
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("<a>é</a>", "utf16le")]);
  const latin1 = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', "latin1");
  for (const bytes of [utf16, latin1]) expect(read(bytes)).toMatchObject({ value: { a: "é" } });
});

const billionLaughs = '<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><a>&c;</a>';

test.each([
  ["a DOCTYPE", "<!DOCTYPE a><a/>", "forbiddenXml", "DOCTYPE"],
  ["entities", billionLaughs, "forbiddenXml", "DOCTYPE"],
  [
    "an external entity",
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    "forbiddenXml",
    "DOCTYPE",
  ],
  ["an entity that is nowhere declared", "<a>&b;</a>", "notWellFormed", "&b;"],
  ["an unknown encoding", '<?xml version="1.0" encoding="EBCDIC"?><a/>', "forbiddenXml", "EBCDIC"],
  ["a missing end tag", "<a><b></a>", "notWellFormed", "line 1"],
  ["nothing", "", "notWellFormed", "empty"],
  ["text before the root, in words for any document", "x<a/>", "notWellFormed", "<?xml or the root element"],
  ["two roots, without advice about stops", "<a/><b/>", "notWellFormed", "Send one root element; look"],
  ["a prefix that is not declared", "<p:a/>", "notWellFormed", "xmlns"],
  ["elements nested too deep", "<a>".repeat(65) + "</a>".repeat(65), "tooLarge", "deeper than 64"],
  ["an element named __proto__", "<a><__proto__/></a>", "wrongType", "__proto__"],
  [
    "an element whose name without its prefix is __proto__",
    "<a xmlns:p='u'><p:__proto__/></a>",
    "wrongType",
    "__proto__",
  ],
])("%s is refused", (_what, xml, code, words) => {
  const outcome = read(xml);
  expect(outcome).toMatchObject({ kind: "refused", fault: { code } });
  expect(outcome.kind === "refused" && outcome.fault.message).toContain(words);
});

test("an attribute named __proto__ is a plain key, for @ stands before it", () => {
  const outcome = read("<a __prot='1'/>");
  expect(outcome.kind).toBe("read");
  expect(read("<a __proto__='1'/>")).toMatchObject({ kind: "refused", fault: { code: "wrongType" } });
});
