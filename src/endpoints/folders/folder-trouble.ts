import { isMissing, messageOf, systemCodeOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { remedyFor } from "./staying-files.ts";

const missing =
  "make the folder, mount the share, or remove it from the configuration; its files are taken as soon as it exists";

/** A fault of a whole folder: reported when it begins, when it becomes another fault, and when it ends. */
export class FolderTrouble {
  readonly #log: Logger;
  #systemCode: string | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  report(error: unknown): void {
    const systemCode = systemCodeOf(error) ?? "unknown";
    if (systemCode === this.#systemCode) return;
    this.#systemCode = systemCode;
    const remedy = isMissing(error) ? missing : remedyFor(error);
    this.#log.warn({ systemCode, reason: messageOf(error), remedy }, "a watched folder cannot be used");
  }

  clear(): void {
    if (this.#systemCode === undefined) return;
    this.#systemCode = undefined;
    this.#log.info({}, "the watched folder can be used again");
  }
}

/** Files of a folder stay because there is no room for them: reported when that begins and when it ends. */
export class RoomTrouble {
  readonly #log: Logger;
  #isReported = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  report(reason: string): void {
    if (!this.#isReported) this.#log.warn({ reason }, "files of a watched folder stay where they are");
    this.#isReported = true;
  }

  clear(): void {
    if (this.#isReported) this.#log.info({}, "files of the watched folder are taken again");
    this.#isReported = false;
  }
}
