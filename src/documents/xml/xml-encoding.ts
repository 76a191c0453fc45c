/**
 * Which encoding an XML document is in, by RFC 7303: the byte order mark (or the pattern of UTF-16 without one), then the
 * `charset` of the request, then the declaration, then UTF-8. A file has no charset.
 *
 * `charset` and declaration may name different encodings; many clients send one of them without looking at the other. What
 * they agree on, and what is the same text in both, is taken. Otherwise the charset counts when the bytes can be of it, with
 * one exception: bytes that are UTF-8, as the declaration says, and whose charset is an encoding in which every byte is a
 * letter, would become other letters. Nobody can tell which of the two is wrong, so such a document is refused.
 */
import { isAscii, isUtf8 } from "node:buffer";

/** `utf8` and the two of UTF-16 are read by the parser itself; of the others it gets a translation. */
export type XmlEncoding =
  | "utf8"
  | "utf16le"
  | "utf16be"
  | "windows-1250"
  | "windows-1252"
  | "iso-8859-2"
  | "iso-8859-15";

export type XmlEncodingOutcome =
  | {
      readonly kind: "known";
      readonly encoding: XmlEncoding;
      /** The declaration is wrong: the parser must not follow it. */
      readonly isDeclaredOtherwise: boolean;
    }
  | { readonly kind: "unsupported"; readonly encoding: string }
  /** The bytes are not UTF-16, though the document says so, and not UTF-8 either. */
  | { readonly kind: "notUtf16" }
  | { readonly kind: "contradiction"; readonly charset: string; readonly declared: string };

/** The supported encodings, for messages. */
export const takenEncodings = "UTF-8, UTF-16, ISO-8859-1, -2, -15, windows-1250 or windows-1252";

/** ISO-8859-1 is read as windows-1252, as browsers do: the two differ where ISO-8859-1 has control characters only. */
const encodingsByName: ReadonlyMap<string, XmlEncoding | "utf16"> = new Map([
  ...["utf-8", "utf8", "us-ascii", "ascii"].map((name) => [name, "utf8"] as const),
  ...["utf-16", "utf16", "utf-16le", "utf-16be", "ucs-2", "iso-10646-ucs-2", "unicode"].map(
    (name) => [name, "utf16"] as const,
  ),
  ...["iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1"].map(
    (name) => [name, "windows-1252"] as const,
  ),
  ...["windows-1252", "cp1252", "cp-1252", "x-cp1252"].map((name) => [name, "windows-1252"] as const),
  ...["windows-1250", "cp1250", "cp-1250", "x-cp1250"].map((name) => [name, "windows-1250"] as const),
  ...["iso-8859-2", "iso8859-2", "iso_8859-2", "latin2", "latin-2", "l2"].map(
    (name) => [name, "iso-8859-2"] as const,
  ),
  ...["iso-8859-15", "iso8859-15", "iso_8859-15", "latin9", "latin-9", "l9"].map(
    (name) => [name, "iso-8859-15"] as const,
  ),
]);

const byName = (name: string) => encodingsByName.get(name.trim().toLowerCase());

/** What the first bytes say, with or without a byte order mark. UTF-32 begins as UTF-16 does, so it comes first. */
function byFirstBytes(bytes: Buffer): XmlEncoding | "utf32" | undefined {
  const [a, b, c, d] = bytes;
  if ((a === 0xff && b === 0xfe && c === 0 && d === 0) || (a === 0x3c && b === 0 && c === 0 && d === 0))
    return "utf32";
  if (a === 0 && b === 0 && ((c === 0xfe && d === 0xff) || (c === 0 && d === 0x3c))) return "utf32";
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf8";
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0 && d === 0)) return "utf16le";
  if ((a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c && c === 0)) return "utf16be";
  return undefined;
}

/** Far beyond what any declaration needs; the parser itself sets no bound. */
const maxDeclarationBytes = 4_096;
/** Placeholder for the name of the encoding where it is not searched further. */
const unendedDeclaration = "of a declaration over 4 KB";
const encodingInDeclaration = /\sencoding\s*=\s*["']([^"']*)["']/;

/**
 * The encoding that the declaration names, or undefined when it names none. The whole declaration is searched, as the
 * parser does: were the two to read the same bytes in different encodings, letters would be damaged in silence.
 */
function declaredEncoding(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, maxDeclarationBytes);
  if (!/^<\?xml\s/.test(head)) return undefined;
  const end = head.indexOf("?>");
  // A shorter document without the end of its declaration has not arrived in full: the parser reports that.
  if (end === -1 && bytes.length > maxDeclarationBytes) return unendedDeclaration;
  return encodingInDeclaration.exec(end === -1 ? head : head.slice(0, end))?.[1];
}

function known(encoding: XmlEncoding, isDeclaredOtherwise = false): XmlEncodingOutcome {
  return { kind: "known", encoding, isDeclaredOtherwise };
}

/** The charset is what it says, and so is the declaration: which of the two the bytes are in. */
function resolve(
  bytes: Buffer,
  charset: { readonly name: string; readonly encoding: XmlEncoding },
  declared: { readonly name: string; readonly encoding: XmlEncoding },
): XmlEncodingOutcome {
  if (charset.encoding === declared.encoding || isAscii(bytes)) return known(declared.encoding);
  const contradiction = { kind: "contradiction", charset: charset.name, declared: declared.name } as const;
  if (charset.encoding === "utf8") return isUtf8(bytes) ? known("utf8", true) : contradiction;
  const isOnlyCharset = declared.encoding === "utf8" && !isUtf8(bytes);
  return isOnlyCharset ? known(charset.encoding, true) : contradiction;
}

/** A name that says UTF-16 of bytes that are not: .NET writes it into text that is then saved as UTF-8. */
function notUtf16(bytes: Buffer): XmlEncodingOutcome {
  return isUtf8(bytes) ? known("utf8", true) : { kind: "notUtf16" };
}

/**
 * The encoding of a document.
 *
 * @param charset the parameter of the request's Content-Type; empty or undefined when there is none
 */
export function encodingOf(bytes: Buffer, charset: string | undefined): XmlEncodingOutcome {
  const first = byFirstBytes(bytes);
  if (first === "utf32") return { kind: "unsupported", encoding: "UTF-32" };
  if (first !== undefined) return known(first);
  const declaredName = declaredEncoding(bytes);
  const declared = byName(declaredName ?? "UTF-8");
  if (declared === undefined) return { kind: "unsupported", encoding: declaredName ?? "" };
  const ofCharset = charset === undefined || charset === "" ? undefined : byName(charset);
  if (charset !== undefined && charset !== "" && ofCharset === undefined)
    return { kind: "unsupported", encoding: charset };
  if (ofCharset === undefined || ofCharset === "utf16")
    return declared === "utf16" ? notUtf16(bytes) : known(declared);
  if (declared === "utf16") return ofCharset === "utf8" ? notUtf16(bytes) : known(ofCharset, true);
  return resolve(
    bytes,
    { name: charset ?? "", encoding: ofCharset },
    { name: declaredName ?? "none", encoding: declared },
  );
}
