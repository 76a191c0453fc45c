/** The commands of one FTP client, which run one after the other in the order in which they came. */
import { LineReader } from "./line-reader.ts";

/** A path of the exchange has 1,024 bytes at most. */
const maxLineBytes = 4_096;
const maxWaitingLines = 500;

export interface CommandQueueDeps {
  /** Called when a line comes, before the waiting ones run. */
  readonly came: (line: string) => void;
  /** Runs one line. Never rejects; false when no more are to run now. */
  readonly run: (line: string) => Promise<boolean>;
  /** Called when no line runs any more. */
  readonly idle: () => void;
}

export class CommandQueue {
  readonly #deps: CommandQueueDeps;
  readonly #reader = new LineReader(maxLineBytes);
  #lines: string[] = [];
  #isRunning = false;

  constructor(deps: CommandQueueDeps) {
    this.#deps = deps;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Throws for a line that is too long, and when too many wait. */
  push(chunk: Buffer): void {
    for (const line of this.#reader.push(chunk)) {
      this.#deps.came(line);
      this.#lines.push(line);
      if (this.#lines.length > maxWaitingLines)
        throw new Error("too many commands in a row without waiting for replies");
    }
    void this.#run();
  }

  /** Drops the waiting input; true when there was some. */
  clear(): boolean {
    const hadLines = this.#lines.length > 0;
    this.#lines = [];
    return this.#reader.clear() || hadLines;
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      if (!(await this.#deps.run(line))) break;
    }
    this.#isRunning = false;
    this.#deps.idle();
  }
}
