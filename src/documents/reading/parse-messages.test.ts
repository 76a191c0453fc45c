import { expect, test } from "vitest";
import type { Fault } from "../../lib/errors.ts";
import { readStopDocument } from "./read-stop-document.ts";

function faultOf(document: string | Buffer): Fault {
  const outcome = readStopDocument(Buffer.from(document));
  const [fault] = outcome.kind === "refused" ? outcome.faults : [];
  if (fault?.code !== "notWellFormed") throw new Error(JSON.stringify(outcome));
  return fault;
}

const latin1 = Buffer.from("<Stop><BOL>Zo\u00eb</BOL></Stop>", "latin1");

const cases: [string, string | Buffer, string][] = [
  [
    "a bare &",
    "<Stop><BOL>a & b</BOL></Stop>",
    "found a bare & that does not begin a reference such as &amp;. Write &amp; for the character & at line 1, column 15.",
  ],
  ["a bare & before letters", "<Stop><BOL>R&D</BOL></Stop>", "Write &amp;"],
  ["a bare & in an attribute", '<Stop><Weight UOM="a&b">1</Weight></Stop>', "Write &amp;"],
  [
    "an entity that is not defined",
    "<Stop><BOL>&nbsp;</BOL></Stop>",
    "found &nbsp; which XML does not know. Write the character itself",
  ],
  ["a < in a text", "<Stop><BOL>a < b</BOL></Stop>", "found a < that does not begin a tag. Write &lt;"],
  ["a < before a letter in a text", "<Stop><BOL>a <b</BOL></Stop>", "or &lt;"],
  [
    "a < in an attribute",
    '<Stop><Weight UOM="a<b">1</Weight></Stop>',
    "found a < in the value of an attribute",
  ],
  ["an attribute without quotes", "<Stop>\n<Weight UOM=kg>1</Weight></Stop>", "does not stand in quotes"],
  ["an attribute without a value", "<Stop><Weight UOM>1</Weight></Stop>", 'Write UOM="value"'],
  [
    "an attribute that stands twice",
    '<Stop><Weight UOM="a" UOM="b">1</Weight></Stop>',
    "the attribute UOM stands twice",
  ],
  ["attributes without space between", "<Stop a='1'b='2'/>", "the attributes of a tag are not right"],
  [
    "an end tag of another element",
    "<Stop>\n<BOL>1</Bol></Stop>",
    "<BOL>, opened at line 2, is closed by </Bol>. Write </BOL>",
  ],
  ["an end tag that is missing", "<Stop>\n<BOL>1\n</Stop>", "<BOL>, opened at line 2, is closed by </Stop>"],
  ["an end tag with a space", "<Stop><BOL>x</ BOL></Stop>", "an end tag is not of the form </name>"],
  [
    "a document that ends too early",
    "<Stop>\n<BOL>1</BOL>",
    "ends before <Stop>, opened at line 1, is closed. Send all of it",
  ],
  ["a document that ends in a tag", "<Stop><BOL", "<BOL> that begins at line 1 has no closing >"],
  ["a comment without end", "<Stop><!-- a", "end the comment with -->"],
  ["a CDATA section without end", "<Stop><![CDATA[ a", "end the CDATA section with ]]>"],
  ["text behind the root", "<Stop></Stop>x", "found more behind the end of the root element"],
  ["a second root", "<Stop></Stop><Stop></Stop>", "put them in <Stops>"],
  ["text before the root", "x<Stop/>", "Begin the document with <?xml or <Stop"],
  ["no XML at all", '{"stops":[]}', "found no element"],
  [
    "a declaration that is not at the beginning",
    ' <?xml version="1.0"?><Stop/>',
    "Leave out what stands before it",
  ],
  ["an empty file", "", "the document is empty"],
  ["a file of zero bytes", Buffer.alloc(100), "nothing in it but zero bytes"],
  [
    "zero bytes before the root",
    "\u0000\u0000<Stop/>",
    "the document begins with zero bytes. Leave them out",
  ],
  [
    "a control character",
    "<Stop><BOL>\u0001</BOL></Stop>",
    "found the character U+0001, which XML cannot carry",
  ],
  ["a reference to a control character", "<Stop><BOL>&#1;</BOL></Stop>", "found the character U+0001"],
  ["a character of number zero", "<Stop><BOL>\u0000</BOL></Stop>", "found a character that XML cannot carry"],
  ["a reference that is no number", "<Stop><BOL>&#38</BOL></Stop>", "&#233;"],
  ["bytes of another encoding", latin1, "Save the document as UTF-8"],
  [
    "a declaration without quotes",
    "<?xml version='1.0' encoding=UTF-8?><Stop/>",
    "the declaration is not right",
  ],
  ["-- in a comment", "<Stop><!-- a -- b --></Stop>", "found -- within a comment"],
  ["]]> in a text", "<Stop><BOL>]]></BOL></Stop>", "Write ]]&gt;"],
  ["a prefix that is not declared", "<Stop><x:BOL/></Stop>", "the prefix x: is not declared"],
];

test.each(cases)("%s is told in words, with the remedy", (_name, document, words) => {
  const fault = faultOf(document);
  expect(fault.message).toContain(words);
  expect(fault.message).toMatch(/ at line \d+, column \d+\.$/);
  expect(fault.message).toContain(`at line ${fault.line}, column ${fault.column}.`);
});

test("a huge name does not make a huge message", () => {
  const long = "x".repeat(20_000);
  expect(faultOf(`<Stop><${long}></Stop>`).message.length).toBeLessThan(400);
});
