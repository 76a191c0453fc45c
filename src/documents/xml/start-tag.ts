/** The start tag of an element in well-formed text: its name and its attributes. */
const codes = {
  tab: 9,
  space: 32,
  slash: 47,
  equals: 61,
  greater: 62,
} as const;

const references = /&(?:#x([0-9a-fA-F]+)|#([0-9]+)|(amp|lt|gt|quot|apos));/g;
const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The text with what its references stand for. */
export function withoutReferences(text: string): string {
  return text.replace(references, (_whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return named[name] ?? "";
    return String.fromCodePoint(hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal));
  });
}

/** An attribute's value as XML 1.0 (3.3.3) normalises it: white space first, references after. */
function attributeValue(raw: string): string {
  const value = /[\t\n]/.test(raw) ? raw.replace(/[\t\n]/g, " ") : raw;
  return value.includes("&") ? withoutReferences(value) : value;
}

function isSpace(code: number): boolean {
  return code === codes.space || (code >= codes.tab && code <= 13);
}

/** One object for all tags of a text, each in its turn: there are hundreds of thousands. */
export class StartTag {
  name = "";
  /** Where it begins. */
  start = 0;
  /** Of an element without content, `<a/>`. */
  isEmpty = false;
  readonly #text: string;
  #nameEnd = 0;
  #end = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Takes the tag that begins at `at`; gives where what is behind it begins. */
  take(at: number): number {
    const text = this.#text;
    let end = at + 2;
    for (
      let code = text.charCodeAt(end);
      code !== codes.greater && code !== codes.slash && !isSpace(code);
    ) {
      code = text.charCodeAt(++end);
    }
    this.name = text.slice(at + 1, end);
    this.start = at;
    this.#nameEnd = end;
    this.#end = text.charCodeAt(end) === codes.greater ? end : this.#endFrom(end);
    this.isEmpty = text.charCodeAt(this.#end - 1) === codes.slash;
    return this.#end + 1;
  }

  get hasAttributes(): boolean {
    return this.#nameEnd + 1 < this.#end;
  }

  /** The attributes as they stand, one after the other. */
  *attributes(): Generator<readonly [name: string, value: string]> {
    const text = this.#text;
    for (let at = this.#nameEnd; at < this.#end; ) {
      const equals = this.#equalsFrom(at);
      if (equals === -1) return;
      const open = this.#quoteAfter(equals);
      const close = text.indexOf(text.charAt(open), open + 1);
      yield [text.slice(at, equals).trim(), attributeValue(text.slice(open + 1, close))];
      at = close + 1;
    }
  }

  /** The `>` of the tag; one in an attribute's value does not count. */
  #endFrom(from: number): number {
    const text = this.#text;
    for (let at = from; ; at++) {
      const character = text[at];
      if (character === ">" || character === undefined) return at;
      if (character === '"' || character === "'") at = text.indexOf(character, at + 1);
    }
  }

  /** Never looks behind the tag: a document without any `=` would be searched to its end for each element. */
  #equalsFrom(from: number): number {
    for (let at = from; at < this.#end; at++) {
      if (this.#text.charCodeAt(at) === codes.equals) return at;
    }
    return -1;
  }

  #quoteAfter(equals: number): number {
    let at = equals + 1;
    while (isSpace(this.#text.charCodeAt(at))) at++;
    return at;
  }
}
