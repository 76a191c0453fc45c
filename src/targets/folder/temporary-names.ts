/**
 * Names of files that a folder target is writing: `.<name>.<mark of the state directory><mark of the process><random>.part`,
 * the three together 16 hexadecimal digits. At most one process works on a state directory, so a name with its mark and
 * another process's was left over by a crash.
 */
import { randomBytes } from "node:crypto";

function hexDigits(count: number): string {
  return randomBytes(count / 2).toString("hex");
}

/** Another one for each process, but for one in 65,536. */
export const markOfThisProcess: string = hexDigits(4);

export class TemporaryNames {
  readonly #instanceMark: string | undefined;
  readonly #processMark: string;

  /** Without the mark of the state directory nothing is known of earlier processes. */
  constructor(instanceMark: string | undefined, processMark: string) {
    this.#instanceMark = instanceMark;
    this.#processMark = processMark;
  }

  /** Another one at each attempt: one that was given up may go on writing for a while. */
  newName(name: string): string {
    return `.${name}.${this.#instanceMark ?? hexDigits(8)}${this.#processMark}${hexDigits(4)}.part`;
  }

  /** Of a name that `isTemporaryName`. */
  isOfEarlierProcess(temporaryName: string): boolean {
    if (this.#instanceMark === undefined) return false;
    const marks = temporaryName.slice(-".part".length - 16);
    return marks.startsWith(this.#instanceMark) && !marks.startsWith(this.#instanceMark + this.#processMark);
  }
}
