/** A list of an answer that is as long as what hosts have sent: it is refused (909) before it takes the memory of all. */
import { DropgateError } from "../../lib/errors.ts";

/** A text has at most 512 MB, and an answer is in memory several times over. */
const maxMiB = 128;

/** A JSON array that grows. */
export class BoundedList {
  readonly #entries: string[] = [];
  readonly #remedy: string;
  #bytes = 0;

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

  /** Adds an entry, which is JSON text. */
  add(text: string): void {
    this.#bytes += Buffer.byteLength(text) + 1;
    if (this.#bytes > maxMiB * 1024 * 1024)
      throw new DropgateError("tooLarge", `the answer is larger than ${maxMiB} MiB. ${this.#remedy}`);
    this.#entries.push(text);
  }
}
