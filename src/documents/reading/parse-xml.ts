/** libxml2, as all readers use it: with no network, no entity substitution, no DTD loading, and no file access. */
import { type ErrorDetail, ParseOption, XmlDocument, XmlParseError } from "libxml2-wasm";
import type { Fault } from "../../lib/errors.ts";
import type { DecodedXml } from "../xml/decode-xml.ts";

// BIG_LINES: lines beyond 65,535 are counted right. COMPACT: short texts cost no allocation.
const parseFlags =
  ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_BIG_LINES | ParseOption.XML_PARSE_COMPACT;
export const parseOptions = { option: parseFlags };
/** For UTF-8 whose declaration says something else. */
const parseAsUtf8Options = { option: parseFlags | ParseOption.XML_PARSE_IGNORE_ENC };

/** The document, to be disposed of, or what the parser says against it. */
export function parseXml({ bytes, isDeclaredOtherwise }: DecodedXml): XmlDocument | readonly ErrorDetail[] {
  try {
    return XmlDocument.fromBuffer(bytes, isDeclaredOtherwise ? parseAsUtf8Options : parseOptions);
  } catch (error) {
    if (error instanceof XmlParseError) return error.details;
    throw error;
  }
}

/** For a parser that has refused a document without a word. */
export const unexplained: ErrorDetail = { message: "it cannot be parsed", level: 3, line: 1, col: 1 };

export const doctypeFault: Fault = {
  code: "forbiddenXml",
  message: "The document has a DOCTYPE. Send it without DTD and entities.",
};
