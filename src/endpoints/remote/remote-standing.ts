/** The state of a remote in the store: how it stands, and when somebody asked for a round. */
import type { RemoteRounds, RemoteState, RemoteStates } from "../../inbound/remotes/remote-memory.ts";
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { PolledRemote } from "./remote-deps.ts";

/** How often a round that changes only times is written: each write costs a sync of the disk. */
const repeatMs = 60_000;

export class RemoteStanding {
  readonly #states: Pick<RemoteStates, "save">;
  readonly #remote: Pick<PolledRemote, "companyId" | "name">;
  readonly #saving: ReturnType<typeof loggingFirstFailure>;
  #written: RemoteRounds | undefined;
  #writtenMs = 0;
  /** When somebody asked for the last round that was heeded. */
  #heededAt = 0;

  constructor(
    states: Pick<RemoteStates, "save">,
    remote: Pick<PolledRemote, "companyId" | "name">,
    log: Logger,
  ) {
    this.#states = states;
    this.#remote = remote;
    this.#saving = loggingFirstFailure(log, "the state of a remote cannot be recorded");
  }

  /** Whether somebody has asked for a round since the last one, and since the last wish. */
  isNewWish({ askedAt, polledAt }: Pick<RemoteState, "askedAt" | "polledAt">): boolean {
    const known = Math.max(this.#heededAt, this.#written?.polledAt ?? polledAt ?? 0);
    this.#heededAt = Math.max(this.#heededAt, askedAt);
    return askedAt > known;
  }

  /**
   * Writes the state when more than its times has changed, when somebody waits for the result, or after a while. Never
   * rejects: only commands read it.
   */
  async note(rounds: RemoteRounds): Promise<void> {
    const before = this.#written;
    const isAwaited = this.#heededAt > (before?.polledAt ?? 0);
    const isNews = isAwaited || before?.failures !== rounds.failures || before.fault !== rounds.fault;
    if (!isNews && performance.now() - this.#writtenMs < repeatMs) return;
    const { companyId, name: remote } = this.#remote;
    await this.#saving(async () => {
      await this.#states.save({ companyId, remote }, rounds);
      this.#written = rounds;
      this.#writtenMs = performance.now();
    });
  }
}
