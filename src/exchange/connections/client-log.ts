/** The log of one client connection of the file exchange. */
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";

export interface ClientLogDeps {
  readonly connectionId: string;
  /** The client's address, normalised. */
  readonly address: string;
  readonly log: Logger;
  /** For what anybody can cause, as often as they like: it is summed up. */
  readonly outsiderLog: LimitedLog;
}

export class ClientLog {
  readonly #deps: ClientLogDeps;
  #log: Logger;
  #isSignedIn = false;

  constructor(deps: ClientLogDeps) {
    const { connectionId, address, log } = deps;
    this.#deps = deps;
    this.#log = log.child({ connectionId, address });
  }

  /** Names the connection, and its user from the sign-in on. */
  get log(): Logger {
    return this.#log;
  }

  signedIn(userName: string): void {
    this.#isSignedIn = true;
    this.#log = this.#log.child({ user: userName });
  }

  /** What can happen before the sign-in can happen to anybody at any rate. */
  report(level: "info" | "warn", facts: object, message: string): void {
    const { connectionId, address, outsiderLog } = this.#deps;
    if (this.#isSignedIn) this.#log[level](facts, message);
    else outsiderLog[level]({ connectionId, address, ...facts }, message);
  }
}
