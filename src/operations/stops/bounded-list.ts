/** A list of an answer that is as long as what hosts have sent: it is refused (909) before it takes the memory of all. */
import { DropgateError } from "../../lib/errors.ts";

/** A text has at most 512 MB, and an answer is in memory several times over. */
const maxMiB = 128;
const maxBytes = maxMiB * 1024 * 1024;

/** A JSON array that grows. */
export class BoundedList {
  readonly #entries: string[] = [];
  readonly #remedy: string;
  /** Of the entries that have been counted, and how many these are. */
  #bytes = 0;
  #counted = 0;
  /** Of all entries: a unit of a text has three bytes of UTF-8 at most. */
  #bytesAtMost = 0;

  /** `remedy`: what to ask for instead. */
  constructor(remedy: string) {
    this.#remedy = remedy;
  }

  get length(): number {
    return this.#entries.length;
  }

  get json(): string {
    return `[${this.#entries.join(",")}]`;
  }

  /** Adds an entry, which is JSON text. Bytes are counted only when all entries together may have too many. */
  add(text: string): void {
    let bytesAtMost = this.#bytesAtMost + 3 * text.length + 1;
    if (bytesAtMost > maxBytes) {
      bytesAtMost = this.#count() + Buffer.byteLength(text) + 1;
      if (bytesAtMost > maxBytes)
        throw new DropgateError("tooLarge", `the answer is larger than ${maxMiB} MiB. ${this.#remedy}`);
    }
    this.#entries.push(text);
    this.#bytesAtMost = bytesAtMost;
  }

  #count(): number {
    for (; this.#counted < this.#entries.length; this.#counted += 1)
      this.#bytes += Buffer.byteLength(this.#entries[this.#counted] ?? "") + 1;
    return this.#bytes;
  }
}
