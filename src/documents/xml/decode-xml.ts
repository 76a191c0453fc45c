/**
 * Brings an XML document into text, and into bytes that the parser can read. The validator reads UTF-8 and UTF-16 itself;
 * of the other encodings it gets UTF-8. The text feeds the pass that makes the objects, and finds what has to be refused
 * before any parser sees it.
 *
 * Bytes that are not UTF-8 or UTF-16 become U+FFFD here. That never gets further: the validator, which decodes by the same
 * rules, refuses such a document as not well-formed, or tells by it that the file is cut off within a letter.
 */
import type { Fault } from "../../lib/errors.ts";
import { encodingOf, takenEncodings, type XmlEncoding, type XmlEncodingOutcome } from "./xml-encoding.ts";

export interface DecodedXml {
  readonly kind: "decoded";
  /** Without a byte order mark. */
  readonly text: string;
  /** What the parser is to read. */
  readonly bytes: Buffer;
  /** Whether the parser is to pass over the declaration, because `bytes` are UTF-8 whatever it says. */
  readonly isDeclaredOtherwise: boolean;
}

export type DecodeOutcome = DecodedXml | { readonly kind: "refused"; readonly fault: Fault };

function utf16BigEndian(bytes: Buffer): string {
  const even = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  return even.swap16().toString("utf16le");
}

const textOf: Readonly<Record<XmlEncoding, (bytes: Buffer) => string>> = {
  utf8: (bytes) => bytes.toString("utf8"),
  utf16le: (bytes) => bytes.toString("utf16le"),
  utf16be: utf16BigEndian,
  "windows-1250": (bytes) => new TextDecoder("windows-1250").decode(bytes),
  "windows-1252": (bytes) => new TextDecoder("windows-1252").decode(bytes),
  "iso-8859-2": (bytes) => new TextDecoder("iso-8859-2").decode(bytes),
  "iso-8859-15": (bytes) => new TextDecoder("iso-8859-15").decode(bytes),
};

/** The encoding that the bytes are more likely in when they are invalid in the declared one. */
const likelier: Readonly<Partial<Record<XmlEncoding, string>>> = {
  "iso-8859-2": "windows-1250",
  "iso-8859-15": "windows-1252",
};

/** Control characters that no order carries: bytes which the encoding has no letter for come out as these. */
const noLetter = /[\u0080-\u009f]/;

function refusedEncoding(message: string, line = 1): DecodeOutcome {
  return { kind: "refused", fault: { code: "forbiddenXml", message, line } };
}

/** A document of an encoding with one byte a letter. */
function decodeLetters(bytes: Buffer, encoding: XmlEncoding): DecodeOutcome {
  const text = textOf[encoding](bytes);
  const at = text.search(noLetter);
  if (at === -1) return { kind: "decoded", text, bytes: Buffer.from(text), isDeclaredOtherwise: true };
  const line = text.slice(0, at).split("\n").length;
  const byte = `0x${text.charCodeAt(at).toString(16).toUpperCase()}`;
  const instead = likelier[encoding] ?? "UTF-8";
  const message = `Found the byte ${byte} at line ${line}, which is no letter of ${encoding}. Declare the encoding that the document is saved in, such as encoding="${instead}".`;
  return refusedEncoding(message, line);
}

function refusal(outcome: Exclude<XmlEncodingOutcome, { kind: "known" }>): DecodeOutcome {
  if (outcome.kind === "contradiction") {
    const { charset, declared } = outcome;
    const message = `Content-Type says charset=${charset.slice(0, 40)} and the XML declaration says ${declared.slice(0, 40)}: read by the one, the document has other letters than by the other. Make them agree with the bytes.`;
    return refusedEncoding(message);
  }
  if (outcome.kind === "notUtf16")
    return refusedEncoding(
      "The declaration says UTF-16, and the document is neither that nor UTF-8. Declare the encoding that it is saved in.",
    );
  return refusedEncoding(
    `The encoding '${outcome.encoding.slice(0, 40)}' is not taken. Send ${takenEncodings}.`,
  );
}

/**
 * Decodes a document, or says with reason 957 why it cannot be.
 *
 * @param charset the parameter of the request's Content-Type, for a document that came over HTTP
 */
export function decodeXml(bytes: Buffer, charset?: string): DecodeOutcome {
  const outcome = encodingOf(bytes, charset);
  if (outcome.kind !== "known") return refusal(outcome);
  const { encoding, isDeclaredOtherwise } = outcome;
  if (encoding !== "utf8" && encoding !== "utf16le" && encoding !== "utf16be")
    return decodeLetters(bytes, encoding);
  const text = textOf[encoding](bytes);
  return {
    kind: "decoded",
    text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text,
    bytes,
    isDeclaredOtherwise,
  };
}

const space = /[ \t\r\n]*/y;

/**
 * Where the DOCTYPE of a document begins, or undefined when it has none: after the declaration, comments, processing
 * instructions and white space. Holds for text that is no XML as well.
 */
export function findDoctype(text: string): number | undefined {
  for (let at = 0; ; ) {
    space.lastIndex = at;
    space.test(text);
    at = space.lastIndex;
    if (text.startsWith("<!DOCTYPE", at)) return at;
    const close = text.startsWith("<?", at) ? "?>" : text.startsWith("<!--", at) ? "-->" : undefined;
    const end = close === undefined ? -1 : text.indexOf(close, at + 2);
    if (close === undefined || end === -1) return undefined;
    at = end + close.length;
  }
}
