import type { FolderStanding } from "../../domain/files/folder-standing.ts";
import type { Clock } from "../../lib/clock.ts";
import { isMissing, messageOf, systemCodeOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { remedyFor } from "./staying-files.ts";

const missing =
  "make the folder, mount the share, or remove it from the configuration; its files are taken as soon as it exists";

/** A fault of a whole folder: reported when it begins, when it becomes another fault, and when it ends. */
export class FolderTrouble {
  readonly #log: Logger;
  readonly #clock: Clock;
  #current: FolderStanding["fault"];

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Undefined while the folder can be used. */
  get current(): FolderStanding["fault"] {
    return this.#current;
  }

  report(error: unknown): void {
    const systemCode = systemCodeOf(error) ?? "unknown";
    if (systemCode === this.#current?.systemCode) return;
    const remedy = isMissing(error) ? missing : remedyFor(error);
    const fault = { systemCode, reason: messageOf(error), remedy };
    this.#current = { ...fault, since: this.#clock.now() };
    this.#log.warn(fault, "a watched folder cannot be used");
  }

  clear(): void {
    if (this.#current === undefined) return;
    this.#current = undefined;
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
