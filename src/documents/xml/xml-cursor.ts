/**
 * Walks over text that a conforming parser has already found to be well-formed XML without DOCTYPE, and only over such
 * text: that is why it can jump from one angle bracket to the next, which makes it several times as fast as a parser
 * that still has to doubt.
 *
 * Use: `openNext` moves into the next child of the current element; after it answered true, either read the child with
 * `leafText`, pass it with `skip`, or walk its own children with `openNext` until that answers false.
 */
import { StartTag, withoutReferences } from "./start-tag.ts";

export interface CursorLimits {
  /** How deep elements may nest; the root is at depth 1. */
  readonly maxDepth: number;
  /** Characters in one text node. */
  readonly maxTextLength: number;
}

/** The document is over a limit. `offset` is where in the text. */
export class XmlLimitReached extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = "XmlLimitReached";
    this.offset = offset;
  }
}

const codes = { exclamation: 33, slash: 47, question: 63 } as const;

export class XmlCursor {
  readonly #text: string;
  readonly #limits: CursorLimits;
  /** Of the element that was opened last. */
  readonly #tag: StartTag;
  /** Most documents have no such attribute: none of their elements is asked for it. */
  readonly #hasNil: boolean;
  #at = 0;
  #depth = 0;

  constructor(text: string, limits: CursorLimits) {
    // Line ends as XML 1.0 (2.11) defines them for every parser.
    this.#text = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    this.#limits = limits;
    this.#tag = new StartTag(this.#text);
    this.#hasNil = text.includes(":nil");
  }

  /** Name of the element that was opened last. */
  get name(): string {
    return this.#tag.name;
  }

  /** Where the start tag of the last opened element begins; for `lineAt`. */
  get start(): number {
    return this.#tag.start;
  }

  /** Line (from 1) of an offset. Counts from the beginning: for faults and for the few elements that keep theirs. */
  lineAt(
    offset: number,
    known: { readonly offset: number; readonly line: number } = { offset: 0, line: 1 },
  ): number {
    let line = known.line;
    for (
      let at = this.#text.indexOf("\n", known.offset);
      at !== -1 && at < offset;
      at = this.#text.indexOf("\n", at + 1)
    ) {
      line++;
    }
    return line;
  }

  /**
   * Opens the next child of the current element; false when there is none, and the element is then closed. `takeText` gets
   * the texts that stand before it, references resolved, and where in the document each begins.
   */
  openNext(takeText?: (text: string, offset: number) => void): boolean {
    if (this.#tag.isEmpty) {
      this.#close();
      return false;
    }
    for (;;) {
      const at = this.#text.indexOf("<", this.#at);
      if (at === -1) return false; // the end of the document
      if (takeText !== undefined) this.#giveText(at, takeText);
      const code = this.#text.charCodeAt(at + 1);
      if (code === codes.slash) {
        this.#at = this.#text.indexOf(">", at) + 1;
        this.#close();
        return false;
      }
      if (code === codes.exclamation || code === codes.question) this.#passMarkup(at);
      else {
        this.#open(at);
        return true;
      }
    }
  }

  /** The text of the element just opened, references resolved, up to and with its end tag. */
  leafText(): string {
    if (this.#tag.isEmpty) {
      this.#close();
      return "";
    }
    const text = this.#text;
    const end = text.indexOf("<", this.#at);
    if (text.charCodeAt(end + 1) !== codes.slash) return this.#mixedText();
    const raw = text.slice(this.#at, end);
    this.#checkTextLength(raw.length);
    this.#at = text.indexOf(">", end) + 1;
    this.#close();
    return raw.includes("&") ? withoutReferences(raw) : raw;
  }

  /** Passes the element just opened with all that is in it. */
  skip(): void {
    while (this.openNext()) this.skip();
  }

  /** An attribute of the element just opened. Read it before the element's content. */
  attribute(name: string): string | undefined {
    if (!this.#tag.hasAttributes) return undefined;
    for (const [found, value] of this.#tag.attributes()) if (found === name) return value;
    return undefined;
  }

  /**
   * Whether the element just opened says `xsi:nil="true"`: it is absent then. Under any prefix: the XSD lets no attribute of
   * another namespace pass. Read it before the element's content.
   */
  isNil(): boolean {
    if (!this.#hasNil || !this.#tag.hasAttributes) return false;
    return this.attributes().some(
      ([name, value]) => name.endsWith(":nil") && /^\s*(?:true|1)\s*$/.test(value),
    );
  }

  /** All attributes of the element just opened, as they stand. Read them before the element's content. */
  attributes(): (readonly [name: string, value: string])[] {
    return [...this.#tag.attributes()];
  }

  /** The text up to `at`, where a tag or other markup begins; of a CDATA section that begins there its content too. */
  #giveText(at: number, takeText: (text: string, offset: number) => void): void {
    const raw = this.#text.slice(this.#at, at);
    this.#checkTextLength(raw.length);
    if (raw !== "") takeText(raw.includes("&") ? withoutReferences(raw) : raw, this.#at);
    if (this.#text.startsWith("<![CDATA[", at))
      takeText(this.#text.slice(at + 9, this.#text.indexOf("]]>", at)), at + 9);
  }

  #open(at: number): void {
    this.#at = this.#tag.take(at);
    this.#depth++;
    if (this.#depth > this.#limits.maxDepth) {
      throw new XmlLimitReached(`elements are nested deeper than ${this.#limits.maxDepth}`, at);
    }
  }

  #close(): void {
    this.#tag.isEmpty = false;
    this.#depth--;
  }

  #checkTextLength(length: number): void {
    if (length <= this.#limits.maxTextLength) return;
    throw new XmlLimitReached(
      `a text is longer than ${this.#limits.maxTextLength} characters`,
      this.#tag.start,
    );
  }

  /** Passes a comment, a CDATA section or a processing instruction. */
  #passMarkup(at: number): void {
    const text = this.#text;
    const close = text[at + 1] === "?" ? "?>" : text.startsWith("<!--", at) ? "-->" : "]]>";
    this.#at = text.indexOf(close, at + 2) + close.length;
  }

  /** The text of an element that also holds comments, CDATA sections or (not valid here) elements. */
  #mixedText(): string {
    const { start } = this.#tag;
    const level = this.#depth;
    let result = "";
    while (this.#depth >= level) {
      const at = this.#text.indexOf("<", this.#at);
      result += withoutReferences(this.#text.slice(this.#at, at));
      this.#at = at;
      if (this.#text.startsWith("<![CDATA[", at)) {
        result += this.#text.slice(at + 9, this.#text.indexOf("]]>", at));
        this.#passMarkup(at);
      } else if (this.#text[at + 1] === "!" || this.#text[at + 1] === "?") this.#passMarkup(at);
      else if (this.openNext()) this.skip();
      this.#tag.start = start;
      this.#checkTextLength(result.length);
    }
    return result;
  }
}
