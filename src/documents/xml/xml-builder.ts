/**
 * Writes XML through fast-xml-parser's builder: two spaces an indent, each element on its own line. Values are cleaned
 * and escaped here and not by the builder, which knows neither the characters that XML 1.0 forbids nor the line ends
 * that a reader would change. Names come from this program, never from data.
 */
import { XMLBuilder } from "fast-xml-parser";
import { escapeXml, escapeXmlAttribute } from "./xml-text.ts";

/**
 * An element's content by the names of its children, in the order in which they are written; a list repeats the
 * element; undefined is left out. A name that begins with `@` is an attribute, `#text` the text beside attributes.
 */
export interface XmlFields {
  readonly [name: string]: XmlContent | undefined;
}

export type XmlContent = string | XmlFields | readonly XmlContent[];

/** The name under which the text of an element with attributes stands. */
export const xmlText = "#text";

const builder = new XMLBuilder({
  format: true,
  indentBy: "  ",
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  textNodeName: xmlText,
  // An attribute that says "true" would be written without its value, which is not well-formed.
  suppressBooleanAttributes: false,
  processEntities: false,
  tagValueProcessor: (_name, value) => escapeXml(String(value)),
  attributeValueProcessor: (_name, value) => escapeXmlAttribute(String(value)),
});

const declaration: XmlFields = { "@version": "1.0", "@encoding": "UTF-8" };

/** The text of a document in UTF-8 with its declaration. */
export function writeXml(root: XmlFields): string {
  return builder.build({ "?xml": declaration, ...root });
}
