/**
 * Hosts that send without a pause while something is done to the service, and try each file again until it is answered, as
 * hosts do. One of them has a slow line, so that some of its files are in the midst of it at any moment.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { PackageHost } from "./package-host.ts";

/** What a host may see of a restart: nobody listens, or the connection is over before the file is answered. */
const expected =
  /Connection refused|Connection closed|Connection reset|Received disconnect|Broken pipe|Couldn't write|lost connection/;

export interface TrafficCounts {
  /** Files that were answered. */
  readonly answered: readonly string[];
  /** What was tried again, by what the client said at its end. */
  readonly failures: ReadonlyMap<string, number>;
  /** Failures that no restart explains, in full. */
  readonly unexpected: readonly string[];
  /** The longest time between two answers. */
  readonly longestGapMs: number;
}

/** Kilobits a second, and bytes: a file takes six seconds. */
const slowLine = ["-l", "400"] as const;
const slowPadding = `<!-- ${"x".repeat(300_000)} -->`;

export class Traffic {
  readonly #host: PackageHost;
  readonly #answered: string[] = [];
  readonly #failures = new Map<string, number>();
  readonly #unexpected: string[] = [];
  readonly #lanes: Promise<void>[];
  #longestGapMs = 0;
  #lastAnswerAt = performance.now();
  #isOver = false;

  /** Begins at once. */
  constructor(host: PackageHost) {
    this.#host = host;
    this.#lanes = [this.#send([], ""), this.#send([], ""), this.#send(slowLine, slowPadding)];
  }

  counts(): TrafficCounts {
    return {
      answered: [...this.#answered],
      failures: new Map(this.#failures),
      unexpected: [...this.#unexpected],
      longestGapMs: this.#longestGapMs,
    };
  }

  /** Resolves when every file that was begun is answered. */
  async stop(): Promise<TrafficCounts> {
    this.#isOver = true;
    await Promise.all(this.#lanes);
    return this.counts();
  }

  async #send(more: readonly string[], padding: string): Promise<void> {
    while (!this.#isOver) {
      const name = await this.#host.write(padding);
      while (!(await this.#isAnswered(name, more))) await pause(200);
      this.#answered.push(name);
      const now = performance.now();
      this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#lastAnswerAt);
      this.#lastAnswerAt = now;
    }
  }

  async #isAnswered(name: string, more: readonly string[]): Promise<boolean> {
    const { exitCode, output } = await this.#host.sftp([`put ${name} /inbound/${name}`], more);
    if (exitCode === 0) return true;
    const said = output.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("sftp>"));
    // A refusal always has its words; a client that is cut off just then ends without any.
    const kind = expected.exec(output)?.[0] ?? (said.length === 0 ? "cut off without a word" : "other");
    this.#failures.set(kind, (this.#failures.get(kind) ?? 0) + 1);
    if (kind === "other") this.#unexpected.push(`${name}: ${said.join(" | ")}`);
    return false;
  }
}
