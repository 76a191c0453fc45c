/** The results of the rounds over one remote: counted, and reported when a fault begins, becomes another one, and ends. */
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { RemoteStatistics } from "./remote-deps.ts";
import type { RemoteReports } from "./remote-reports.ts";
import type { Trouble } from "./take-files.ts";

function faultOf(trouble: Trouble): string {
  return trouble.kind === "failed" ? trouble.fault : "ownFault";
}

export interface RemoteHealthDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly reports: Pick<RemoteReports, "hasLinkBreakers">;
  /** How many rounds of earlier pollers have failed in a row since the last success. */
  readonly failuresBefore: number;
}

export class RemoteHealth {
  readonly #deps: RemoteHealthDeps;
  #failures = 0;
  #failuresInRow = 0;
  /** A new poller has not reached the remote yet: only a success ends what has failed before. */
  #failuresBefore: number;
  #filesTaken = 0;
  #lastSuccessAt: number | undefined;
  #trouble: Trouble | undefined;
  #reportedFault: string | undefined;

  constructor(deps: RemoteHealthDeps) {
    this.#deps = deps;
    this.#failuresBefore = deps.failuresBefore;
  }

  /** Of this poller, by which pauses grow: after a restart they are short again. */
  get failuresInRow(): number {
    return this.#failuresInRow;
  }

  get statistics(): Omit<RemoteStatistics, "company" | "remote" | "isPausedByHand"> {
    return {
      filesTaken: this.#filesTaken,
      failures: this.#failures,
      isFailing: this.#failuresBefore + this.#failuresInRow > 0 || this.#deps.reports.hasLinkBreakers,
      lastSuccessAt: this.#lastSuccessAt,
    };
  }

  get standing() {
    const trouble = this.#trouble;
    return {
      succeededAt: this.#lastSuccessAt ?? null,
      failures: this.#failuresBefore + this.#failuresInRow,
      fault: trouble === undefined ? null : faultOf(trouble),
      faultText: trouble?.message ?? null,
    };
  }

  taken(count: number): void {
    this.#filesTaken += count;
  }

  succeeded(): void {
    const { clock, log, reports } = this.#deps;
    this.#failuresBefore = 0;
    this.#failuresInRow = 0;
    this.#trouble = undefined;
    this.#lastSuccessAt = clock.now();
    // The files that break the link only rest: it will break again.
    if (this.#reportedFault === undefined || reports.hasLinkBreakers) return;
    log.info({}, "the remote can be used again");
    this.#reportedFault = undefined;
  }

  failed(trouble: Trouble, error?: unknown): void {
    this.#failures += 1;
    this.#failuresInRow += 1;
    this.#trouble = trouble;
    const fault = faultOf(trouble);
    if (this.#reportedFault === fault) return;
    this.#reportedFault = fault;
    this.#deps.log.warn(
      { fault, reason: trouble.message, ...(error === undefined ? {} : { err: error }) },
      "a remote cannot be polled; retrying after pauses that grow to 10 minutes",
    );
  }
}
