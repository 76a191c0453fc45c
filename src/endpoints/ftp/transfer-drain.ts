/** Lets the transfer of a client come to its end as long as it moves, when the daemon stops. */
import type { FtpSession } from "./ftp-session.ts";
import { DataFault } from "./replies.ts";

/** An upload that stands still for so long does not delay a stop. */
const stalledMs = 2_000;

export interface TransferDrainDeps {
  readonly session: Pick<FtpSession, "transfer" | "abortTransfer">;
  /** Whether a command is at work. */
  readonly isRunning: () => boolean;
  /** Nothing is under way any more. */
  readonly done: () => void;
}

export class TransferDrain {
  readonly #deps: TransferDrainDeps;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: TransferDrainDeps) {
    this.#deps = deps;
  }

  get hasBegun(): boolean {
    return this.#timer !== undefined;
  }

  begin(): void {
    if (this.hasBegun) return;
    this.#timer = setInterval(() => this.check(), stalledMs / 4);
    this.check();
  }

  /** What was under way may have come to its end. */
  check(): void {
    const { session, isRunning, done } = this.#deps;
    const { transfer } = session;
    if (transfer === undefined) {
      if (!isRunning()) done();
      return;
    }
    const movedAtMs = transfer.data?.lastMovedAtMs ?? transfer.startedAtMs;
    if (Date.now() - movedAtMs >= stalledMs)
      session.abortTransfer(new DataFault(426, "The server is stopping"));
  }

  /** The connection ends. */
  end(): void {
    clearInterval(this.#timer);
  }
}
