/**
 * The mark that each transaction of the writer of a node leaves: a row of `meta` for each node, which nobody else writes. By it
 * the node knows after a lost answer whether its last transaction is committed, also at a standby that has taken over.
 */
import { randomBytes } from "node:crypto";

/** Begins the keys of the marks in `meta`: they are about the processes, and not part of the state. */
export const markKeyStart = "last_write_of ";

const leave = `insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value`;
const ask = "select value as mark from meta where key = $1";

interface MarkQuery {
  readonly text: string;
  readonly values: readonly string[];
  readonly name?: string;
}

export class CommitMarks {
  readonly #key: string;
  /** Another process may have had the name before. */
  readonly #process = randomBytes(6).toString("hex");
  #count = 0;

  constructor(node: string) {
    this.#key = markKeyStart + node;
  }

  /** The statement that leaves the next mark. */
  next(): MarkQuery {
    this.#count += 1;
    return { text: leave, values: [this.#key, this.#last], name: "leave_mark" };
  }

  /** The statement that asks for the mark that is there, as `mark`. */
  get asked(): MarkQuery {
    return { text: ask, values: [this.#key] };
  }

  isLast(mark: unknown): boolean {
    return mark === this.#last;
  }

  get #last(): string {
    return `${this.#process}.${this.#count}`;
  }
}
