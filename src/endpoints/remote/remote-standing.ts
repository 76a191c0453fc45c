/** What the store knows of a remote: how it stands, and when somebody asked for a round. */
import type { RemoteRounds, RemoteState, RemoteStates } from "../../inbound/remotes/remote-states.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { PolledRemote } from "./remote-deps.ts";

/** Rounds that change nothing but their time are written so often; each write is a sync of the disk. */
const repeatMs = 60_000;

export class RemoteStanding {
  readonly #states: Pick<RemoteStates, "save">;
  readonly #remote: Pick<PolledRemote, "companyId" | "name">;
  readonly #log: Logger;
  #written: RemoteRounds | undefined;
  #writtenMs = 0;
  /** The wish that was heeded last. */
  #heededAt = 0;
  #isFailing = false;

  constructor(
    states: Pick<RemoteStates, "save">,
    remote: Pick<PolledRemote, "companyId" | "name">,
    log: Logger,
  ) {
    this.#states = states;
    this.#remote = remote;
    this.#log = log;
  }

  /** Whether somebody has asked since the last round and the last wish. */
  isNewWish({ askedAt, polledAt }: Pick<RemoteState, "askedAt" | "polledAt">): boolean {
    const known = Math.max(this.#heededAt, this.#written?.polledAt ?? polledAt ?? 0);
    this.#heededAt = Math.max(this.#heededAt, askedAt);
    return askedAt > known;
  }

  /** Writes it when it differs in more than its times, or after a while. Never rejects: it is for people alone. */
  async note(rounds: RemoteRounds): Promise<void> {
    const before = this.#written;
    const isNews = before?.failures !== rounds.failures || before.fault !== rounds.fault;
    if (!isNews && performance.now() - this.#writtenMs < repeatMs) return;
    const { companyId, name: remote } = this.#remote;
    try {
      await this.#states.save({ companyId, remote }, rounds);
      this.#written = rounds;
      this.#writtenMs = performance.now();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#log.error({ err: error }, "the state of a remote cannot be recorded");
      this.#isFailing = true;
    }
  }
}
