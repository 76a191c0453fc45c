/**
 * The encodings a stop document may have (decisions 5): UTF-8, UTF-16 and ISO-8859-1, told by byte order mark or
 * declaration. The validator reads the bytes itself; this decoding feeds the pass that makes the objects, and finds
 * what has to be refused before any parser sees it.
 *
 * Bytes that are not of the encoding become U+FFFD here. That never gets further: the validator, which decodes by the
 * same rules, refuses such a document as not well-formed, or tells by it that the file is cut off within a letter.
 */
export type DecodedXml =
  | { readonly kind: "decoded"; readonly text: string }
  | { readonly kind: "unsupported"; readonly encoding: string };

type Decoder = (bytes: Buffer) => string;

function utf16BigEndian(bytes: Buffer): string {
  const even = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  return even.swap16().toString("utf16le");
}

const utf8: Decoder = (bytes) => bytes.toString("utf8");
const utf16LittleEndian: Decoder = (bytes) => bytes.toString("utf16le");
const latin1: Decoder = (bytes) => bytes.toString("latin1");

/** What the first bytes say, with or without a byte order mark. */
function decoderByFirstBytes(bytes: Buffer): Decoder | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return utf8;
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0 && d === 0)) return utf16LittleEndian;
  if ((a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c && c === 0)) return utf16BigEndian;
  return undefined;
}

/** Far beyond what any declaration needs; the parser itself sets no bound. */
const maxDeclarationBytes = 4_096;
/** Stands for the name of the encoding when it is not looked for any further. */
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
  // A shorter document without the end of its declaration has not arrived in full: the parser tells that.
  if (end === -1 && bytes.length > maxDeclarationBytes) return unendedDeclaration;
  return encodingInDeclaration.exec(end === -1 ? head : head.slice(0, end))?.[1];
}

const decodersByName = new Map<string, Decoder>([
  ["UTF-8", utf8],
  ["UTF8", utf8],
  ["US-ASCII", utf8],
  ["ASCII", utf8],
  ["ISO-8859-1", latin1],
  ["ISO8859-1", latin1],
  ["ISO_8859-1", latin1],
  ["LATIN1", latin1],
]);

/** Decodes a document, or names the encoding that is not taken. A byte order mark is not part of the text. */
export function decodeXml(bytes: Buffer): DecodedXml {
  const byFirstBytes = decoderByFirstBytes(bytes);
  if (byFirstBytes !== undefined) {
    const text = byFirstBytes(bytes);
    return { kind: "decoded", text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text };
  }
  const encoding = declaredEncoding(bytes) ?? "UTF-8";
  const decoder = decodersByName.get(encoding.toUpperCase());
  return decoder === undefined
    ? { kind: "unsupported", encoding }
    : { kind: "decoded", text: decoder(bytes) };
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
