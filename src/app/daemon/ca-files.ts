/**
 * The files with certificates that remotes name (`ca`). They are read each time the list of remotes is, so that a new
 * certificate takes effect by itself, and each may lie on a share that hangs. A read that hangs cannot be ended, and keeps a
 * thread: so a file has one read at a time, which all remotes that name it share, and nobody waits for it for long.
 *
 *   at rest ──asked──> being read ──answered──────────────────────────> at rest: the next to ask reads it anew
 *                          └─ answerMs later ─> late ──answered──> at rest
 *
 * Who asks for a late file gets at once what was read of it last, or else a fault.
 */
import { readFile } from "node:fs/promises";
import { messageOf } from "../../lib/errors.ts";
import { asForeign } from "../../lib/files/foreign-calls.ts";
import type { Logger } from "../../lib/logs/log.ts";

export interface CaFilesDeps {
  /** Told once when a late file holds up nobody, since it was read before; a fault is for the caller to tell. */
  readonly log?: Pick<Logger, "warn">;
  /** How long a file has to answer. Default 5 s. */
  readonly answerMs?: number | undefined;
}

interface Reading {
  /** Those that have asked for it. */
  readonly remotes: Set<string>;
  readonly content: Promise<string>;
}

/** Once for each time that a file hangs, all other remotes wait as long. */
const defaultAnswerMs = 5_000;

const readForeign = asForeign((file: string) => readFile(file, "utf8"));

export class CaFiles {
  readonly #deps: CaFilesDeps;
  readonly #inHand = new Map<string, Reading>();
  readonly #last = new Map<string, string>();

  constructor(deps: CaFilesDeps = {}) {
    this.#deps = deps;
  }

  /**
   * The content of a file that this remote names. Rejects, with what to do, when it cannot be read, or is late and was never
   * read before.
   */
  contentOf(file: string, remote: string): Promise<string> {
    const reading = this.#inHand.get(file) ?? this.#read(file);
    reading.remotes.add(remote);
    return reading.content;
  }

  #read(file: string): Reading {
    const { promise: content, resolve, reject } = Promise.withResolvers<string>();
    const reading = { remotes: new Set<string>(), content };
    const { answerMs = defaultAnswerMs } = this.#deps;
    const timer = setTimeout(() => resolve(this.#contentOfLate(file, reading)), answerMs);
    const answered = () => {
      clearTimeout(timer);
      this.#inHand.delete(file);
    };
    this.#inHand.set(file, reading);
    readForeign(file).then(
      (text) => {
        answered();
        this.#last.set(file, text);
        resolve(text);
      },
      (error: unknown) => {
        answered();
        reject(new Error(`the file ${file} (ca) cannot be read: ${messageOf(error)}; correct it`));
      },
    );
    return reading;
  }

  async #contentOfLate(file: string, { remotes }: Reading): Promise<string> {
    const last = this.#last.get(file);
    if (last === undefined)
      throw new Error(
        `the file ${file} (ca) does not answer; see to the share that it lies on: files are fetched when it answers`,
      );
    const remedy = "see to the share that it lies on; a change of the file takes effect when it answers";
    this.#deps.log?.warn(
      { file, remotes: [...remotes], remedy },
      "a file that remotes name as ca does not answer; they go on with what was read of it last",
    );
    return last;
  }
}
