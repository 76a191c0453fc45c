/** The state of a remote in the store: how it stands, and when somebody asked for a round. */
import {
  isPollAwaited,
  type RemoteRounds,
  type RemoteState,
  type RemoteStates,
} from "../../inbound/remotes/remote-memory.ts";
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { PolledRemote } from "./remote-deps.ts";

/** How often a round that changes only times is written: each write costs a sync of the disk. */
const repeatMs = 60_000;

type Rounds = Omit<RemoteRounds, "answeredAskedAt">;

export class RemoteStanding {
  readonly #states: Pick<RemoteStates, "save">;
  readonly #remote: Pick<PolledRemote, "companyId" | "name">;
  readonly #saving: ReturnType<typeof loggingFirstFailure>;
  #written: Rounds | undefined;
  #writtenMs = 0;
  /** The last request that was heeded, and the one that the last written round has answered, by when they were made. */
  #heededAt = 0;
  #answeredAt = 0;

  constructor(
    states: Pick<RemoteStates, "save">,
    remote: Pick<PolledRemote, "companyId" | "name">,
    log: Logger,
  ) {
    this.#states = states;
    this.#remote = remote;
    this.#saving = loggingFirstFailure(log, "the state of a remote cannot be recorded");
  }

  /** Whether somebody has asked for a round, and none that began afterwards is under way or has ended. */
  isNewRequest(state: Pick<RemoteState, "askedAt" | "answeredAskedAt">): boolean {
    const isNew = isPollAwaited(state) && state.askedAt !== this.#heededAt;
    if (isNew) this.#heededAt = state.askedAt;
    return isNew;
  }

  /** The request that a round that begins now answers: to be given to `note` at its end. */
  get requestToAnswer(): number {
    return this.#heededAt;
  }

  /** Whether somebody waits for the round that begins now. */
  get isAwaited(): boolean {
    return this.#heededAt !== this.#answeredAt;
  }

  /**
   * Writes the state when more than its times has changed, when somebody waits for the result, or after a while. Never
   * rejects: only commands read it.
   */
  async note(rounds: Rounds, answered: number): Promise<void> {
    const before = this.#written;
    const isAnswer = answered !== this.#answeredAt;
    const isNews = isAnswer || before?.failures !== rounds.failures || before.fault !== rounds.fault;
    if (!isNews && performance.now() - this.#writtenMs < repeatMs) return;
    const { companyId, name: remote } = this.#remote;
    await this.#saving(async () => {
      await this.#states.save({ companyId, remote }, { ...rounds, answeredAskedAt: answered });
      this.#written = rounds;
      this.#answeredAt = answered;
      this.#writtenMs = performance.now();
    });
  }
}
