/**
 * Reads any XML document into a value as JSON has it, for expressions that map it
 * (specification/integrations.md#mapping). The same guards as for stop documents: encodings, no DOCTYPE, libxml2
 * decides whether it is well-formed, then one pass makes the value.
 *
 *   <Route id="7"><Stop>A</Stop><Note/><Stop>B</Stop></Route>
 *   { "Route": { "@id": "7", "Stop": ["A", "B"], "Note": "" } }
 *
 * An element without attributes and children is its text. Any other is an object: attributes under `@name`, children under
 * their names (a list where a name is repeated), text that is more than white space under `#text`. Prefixes of namespaces
 * are left out. `#elements` of an object has its children in their order, each `{ name, value }`; it is hidden, so that
 * wildcards and copies do not see it.
 */
import { XmlDocument } from "libxml2-wasm";
import type { Fault } from "../../lib/errors.ts";
import { type DecodedXml, decodeXml, findDoctype } from "../xml/decode-xml.ts";
import { doctypeFault, parseXml, unexplained } from "./parse-xml.ts";
import { defaultStopDocumentLimits, limitFault } from "./stop-document.ts";
import { XmlCursor, XmlLimitReached } from "../xml/xml-cursor.ts";
import { faultOfParseError, isLimitError } from "./xml-faults.ts";

export type XmlValue = string | XmlObject | readonly XmlValue[];
export interface XmlObject {
  readonly [name: string]: XmlValue;
}

export type ReadXmlValue =
  | { readonly kind: "read"; readonly value: XmlObject }
  | { readonly kind: "refused"; readonly fault: Fault };

interface ChildElement {
  readonly name: string;
  readonly value: XmlValue;
}

/** Messages of the parser about stop documents, and their text for any document. */
const wordsOfStops: readonly (readonly [RegExp, string])[] = [
  [/<\?xml or <Stop/g, "<?xml or the root element"],
  [/; for several stops, put them in <Stops>/g, ""],
  [/Leave it out: stop documents have no namespace/g, "Declare it with xmlns, or leave it out"],
];

function inGeneralWords(fault: Fault): Fault {
  const message = wordsOfStops.reduce(
    (text, [words, instead]) => text.replace(words, instead),
    fault.message,
  );
  return { ...fault, message };
}

class ForbiddenName extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super("the name __proto__");
    this.offset = offset;
  }
}

/** The name without its prefix. Throws for the one name that would not be a plain key of the value. */
function localName(name: string, offset: number): string {
  const local = name.slice(name.indexOf(":") + 1);
  if (local === "__proto__") throw new ForbiddenName(offset);
  return local;
}

function isNamespace(name: string): boolean {
  return name === "xmlns" || name.startsWith("xmlns:");
}

/** Entries of an object under their names; a list where a name is repeated. No prototype: any name is a plain key. */
function gathered(children: readonly ChildElement[], into: Record<string, XmlValue>): void {
  const lists = new Map<string, XmlValue[]>();
  for (const { name, value } of children) {
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [value]);
    else list.push(value);
  }
  for (const [name, list] of lists) into[name] = list.length === 1 ? (list[0] ?? "") : list;
}

/** The value of the element just opened, up to and with its end tag. */
function elementValue(cursor: XmlCursor): XmlValue {
  const value: Record<string, XmlValue> = Object.create(null);
  const { start } = cursor;
  let isObject = false;
  for (const [name, text] of cursor.attributes()) {
    if (isNamespace(name)) continue;
    isObject = true;
    value[`@${localName(name, start)}`] = text;
  }
  let text = "";
  const takeText = (part: string) => {
    text += part;
  };
  const children: ChildElement[] = [];
  while (cursor.openNext(takeText)) {
    const name = localName(cursor.name, cursor.start);
    children.push({ name, value: elementValue(cursor) });
  }
  if (!isObject && children.length === 0) return text;
  gathered(children, value);
  if (text.trim() !== "") value["#text"] = text;
  if (children.length > 0) Object.defineProperty(value, "#elements", { value: children });
  return value;
}

function readText(text: string): ReadXmlValue {
  const cursor = new XmlCursor(text, defaultStopDocumentLimits);
  try {
    const root: Record<string, XmlValue> = Object.create(null);
    cursor.openNext();
    const name = localName(cursor.name, cursor.start);
    root[name] = elementValue(cursor);
    return { kind: "read", value: root };
  } catch (error) {
    if (error instanceof XmlLimitReached)
      return { kind: "refused", fault: limitFault(error.message, cursor.lineAt(error.offset)) };
    if (!(error instanceof ForbiddenName)) throw error;
    const line = cursor.lineAt(error.offset);
    const message = `The document has the name __proto__ (line ${line}). Leave it out.`;
    return { kind: "refused", fault: { code: "wrongType", message, line } };
  }
}

/** The parser's complaint about the document; undefined when it is well-formed and has no DTD. */
function faultOf(decoded: DecodedXml): Fault | undefined {
  const parsed = parseXml(decoded);
  if (parsed instanceof XmlDocument) {
    const hasDtd = parsed.dtd !== null;
    parsed.dispose();
    return hasDtd ? doctypeFault : undefined;
  }
  const limit = parsed.find(isLimitError);
  if (limit !== undefined) return limitFault("its names, texts or its depth are", limit.line);
  return inGeneralWords(faultOfParseError(parsed[0] ?? unexplained, decoded.text));
}

/**
 * The value of a document, or what is wrong with it: 950 (not well-formed), 957 (DOCTYPE or encoding), 909 (deeper than 64
 * elements, or a text over 10 MB), 902 (a name that JSON must not have). `charset` is the parameter of the Content-Type.
 */
export function readXmlValue(bytes: Buffer, charset?: string): ReadXmlValue {
  const decoded = decodeXml(bytes, charset);
  if (decoded.kind === "refused") return decoded;
  const { text } = decoded;
  if (findDoctype(text) !== undefined) return { kind: "refused", fault: doctypeFault };
  const fault = faultOf(decoded);
  return fault === undefined ? readText(text) : { kind: "refused", fault };
}
