/**
 * Messages for documents that are not well-formed: libxml2's messages, rewritten to name the fault and the remedy. Each
 * ends so that the place can follow: "… Write &amp; instead, at line 5, column 22."
 */
type Words = (...parts: string[]) => string;

/** The parser takes a zero byte for the end. */
const zero = "\u0000";

const maxShownLength = 40;

function name(text: string): string {
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}...` : text;
}

/** A character as people look it up: U+0001. */
function codePoint(decimal: string): string {
  return `U+${Number(decimal).toString(16).toUpperCase().padStart(4, "0")}`;
}

const bareAmpersand = () =>
  "found a bare & that does not begin a reference such as &amp;. Write &amp; for the character &";
const lessThan = () => "found a < that does not begin a tag. Write &lt; for the character <";
const unquoted = () =>
  'found an attribute whose value does not stand in quotes. Write it as name="value", with no other quote of that kind in it,';
const unfinishedTag = (tag = "", line = "") =>
  `the tag <${name(tag)}> that begins at line ${line} has no closing > or is not of the form <name attribute="value">. Correct it`;
const badCharacter = (decimal = "") =>
  `found the character ${codePoint(decimal)}, which XML cannot carry. Leave it out`;
const badBytes = () =>
  "found bytes that are not of the document's encoding. Save the document as UTF-8, or declare its encoding in the first line; look";
const badDeclaration = () =>
  'the declaration is not right. Write <?xml version="1.0" encoding="UTF-8"?> in the encoding that it names; look';
const noRoot = () =>
  "found no element, or something before it. Begin the document with <?xml or <Stop, with nothing in front; look";
const unfinished = (what: string, end: string) => () =>
  `the document ends within a ${what}. Send all of it, and end the ${what} with ${end}; it ends`;

/** The parser says "Document is empty" of a zero byte at the beginning as well. */
function emptyWords(text: string): string {
  if (text === "") return "the document is empty. Send it with its content; it ends";
  if (!text.startsWith(zero)) return noRoot();
  return text.replaceAll(zero, "") === ""
    ? "the document has nothing in it but zero bytes. Send it with its content; look"
    : "the document begins with zero bytes. Leave them out and begin with <?xml or <Stop; look";
}

/** The forms of the parser's messages, and the text for each. */
const table: readonly (readonly [RegExp, Words])[] = [
  [/^xmlParseEntityRef: no name/, bareAmpersand],
  [/^EntityRef: expecting ';'/, bareAmpersand],
  [
    /^Entity '(.*)' not defined/s,
    (entity = "") =>
      `found &${name(entity)}; which XML does not know. Write the character itself, or &amp; when & is meant,`,
  ],
  [/^StartTag: invalid element name/, lessThan],
  [
    /^Unescaped '<' not allowed in attributes values/,
    () =>
      "found a < in the value of an attribute, or the closing quote is missing. Write &lt; or add the quote",
  ],
  [/^AttValue: /, unquoted],
  [
    /^Specification mandates value for attribute (.*)/s,
    (attribute = "") =>
      `found the attribute ${name(attribute)} without a value, or a space in the name of an element. Write ${name(attribute)}="value" or correct the name`,
  ],
  [
    /^Attribute (.*) redefined/s,
    (attribute = "") => `the attribute ${name(attribute)} stands twice in one tag. Keep one of them`,
  ],
  [
    /^attributes construct error|^error parsing attribute name/,
    () =>
      'the attributes of a tag are not right, or a < in a text is not written as &lt;. Write name="value" with a space in front of each, or &lt;,',
  ],
  [
    /^Opening and ending tag mismatch: (.*) line (\d+) and (.*)$/s,
    (opened = "", line = "", closed = "") =>
      `<${name(opened)}>, opened at line ${line}, is closed by </${name(closed)}>. Write </${name(opened)}>, or add the end tag that is missing before it,`,
  ],
  [/^expected '>'/, () => "an end tag is not of the form </name>. Correct it"],
  [/^Couldn't find end of Start Tag (.*) line (\d+)/s, unfinishedTag],
  [
    /^Premature end of data in tag (.*) line (\d+)/s,
    (tag = "", line = "") =>
      `the document ends before <${name(tag)}>, opened at line ${line}, is closed. Send all of it, with its end tags; it ends`,
  ],
  [/^Comment not terminated/, unfinished("comment", "-->")],
  [/^CData section not finished/, unfinished("CDATA section", "]]>")],
  [
    /^Extra content at the end of the document/,
    () =>
      "found more behind the end of the root element. Send one root element; for several stops, put them in <Stops>; look",
  ],
  [/^Start tag expected, '<' not found/, noRoot],
  [
    /^XML declaration allowed only at the start/,
    () => "the declaration <?xml ...?> does not stand at the very beginning. Leave out what stands before it",
  ],
  [/^(?:PCDATA|xmlParse\w*:)? ?(?:invalid Char value|invalid xmlChar value) (\d+)/, badCharacter],
  [/^CharRef: invalid/, () => "found a &# that is not of the form &#233; or &#xE9;. Correct it"],
  [/^Invalid character: /, () => "found a character that XML cannot carry. Leave it out"],
  [/^Char 0x([0-9A-F]+) out of allowed range/i, (hex = "") => badCharacter(String(Number.parseInt(hex, 16)))],
  [/^Invalid bytes in character encoding|^Input is not proper UTF-8|^Incomplete UTF-8/, badBytes],
  [
    /^Double hyphen within comment/,
    () => "found -- within a comment. Leave it out, or end the comment with --> there,",
  ],
  [/^Sequence '\]\]>' not allowed/, () => "found ]]> in a text. Write ]]&gt;"],
  [
    /^Namespace prefix (.*) (?:on|for) (.*) is not defined/s,
    (prefix = "") =>
      `the prefix ${name(prefix)}: is not declared. Leave it out: stop documents have no namespace; look`,
  ],
  [/^xmlParsePI : no target name/, () => "found a <? that is no processing instruction. Leave it out"],
  [/^Blank needed here|^parsing XML declaration|^String not started|^Malformed declaration/, badDeclaration],
  [/^Unsupported version/, badDeclaration],
];

/** The text for a message of the parser about `text`; undefined for an unknown one. */
export function wordsForParseMessage(message: string, text: string): string | undefined {
  if (message.startsWith("Document is empty")) return emptyWords(text);
  for (const [form, words] of table) {
    const match = form.exec(message);
    if (match !== null) return words(...match.slice(1));
  }
  return undefined;
}
