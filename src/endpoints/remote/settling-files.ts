/** The files of one remote on their way to settle. Files seen once are kept for the next round. */
import type { Logger } from "../../lib/logs/log.ts";
import { sleepAtLeast } from "../../lib/sleep.ts";
import type { RemoteFile } from "./fetch-messages.ts";
import { StopsKeptBack } from "./order-of-stops.ts";
import { type ListedRemote, listRemote } from "./read-remote.ts";
import type { RemoteDeps } from "./remote-deps.ts";
import { RoundTrouble } from "./take-files.ts";

export interface SettlingFilesDeps extends Pick<RemoteDeps, "memory" | "limits"> {
  readonly log: Logger;
  readonly listed: ListedRemote;
  readonly settleMs: number;
}

export class SettlingFiles {
  readonly #deps: SettlingFilesDeps;
  #isExcessReported = false;

  constructor(deps: SettlingFilesDeps) {
    this.#deps = deps;
  }

  /**
   * The files that have settled; waits once for those that have not. Rejects with a `RoundTrouble`, or the signal's reason.
   */
  async settled(signal: AbortSignal): Promise<RemoteFile[]> {
    const { listed, settleMs } = this.#deps;
    const { candidates } = listed;
    await this.#list(signal);
    const settled = candidates.settled(settleMs);
    if (settled.length >= candidates.size) return settled;
    await sleepAtLeast(settleMs, signal);
    await this.#list(signal);
    return candidates.settled(settleMs);
  }

  /** The stops kept back by files that have not settled or cannot be fetched. */
  keptBack(): StopsKeptBack {
    const { listed, settleMs, limits } = this.#deps;
    const kept = new StopsKeptBack();
    for (const { name } of listed.candidates.unsettled(settleMs)) kept.add(name);
    for (const name of listed.reports.failing(performance.now(), limits().giveUpAfterMs)) kept.add(name);
    return kept;
  }

  async #list(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { listed, log } = this.#deps;
    const outcome = await listRemote(this.#deps, listed, signal);
    if (outcome.kind === "failed" || outcome.kind === "ownFault") throw new RoundTrouble(outcome);
    const { hasLeftOut, size } = listed.candidates;
    if (hasLeftOut && !this.#isExcessReported)
      log.warn({ files: size }, "the remote has more files than one poll takes; later polls take the rest");
    this.#isExcessReported = hasLeftOut;
  }
}
