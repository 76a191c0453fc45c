/** The runners of the companies: made when the first file of one comes, and kept. */
import type { DecisionFigures, DecisionStatistics } from "./decision-figures.ts";
import type { DecisionWatch } from "./decision-watch.ts";
import { LaneRunner, type LaneRunnerDependencies } from "./lane-runner.ts";
import { type WaitingFile, waitingSince } from "./waiting-file.ts";

export interface CompanyLanesDependencies
  extends Omit<LaneRunnerDependencies, "onDecided" | "onGone" | "onReceipt" | "onFiled"> {
  /** The code of a company as it was registered. */
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  /** Resolves when the runner may decide, for one that was made just now. */
  readonly made: (runner: LaneRunner) => Promise<void>;
  /** A file is decided about. */
  readonly decided: (file: WaitingFile) => void;
  /** A file is filed away. */
  readonly left: (file: WaitingFile) => void;
  /** There is nothing to decide about: the file is gone. */
  readonly gone: (file: WaitingFile) => void;
  /** What is decided, over all companies of the process. */
  readonly figures: DecisionFigures;
  /** Told of each decision and receipt; nobody unless given. */
  readonly watch?: DecisionWatch | undefined;
}

const askAgainMs = 1_000;

export class CompanyLanes {
  readonly #deps: CompanyLanesDependencies;
  readonly #asked = new Map<number, Promise<LaneRunner>>();
  readonly #runners = new Map<number, LaneRunner>();
  #isStopped = false;

  constructor(deps: CompanyLanesDependencies) {
    this.#deps = deps;
  }

  /** Those that there are by now. */
  get all(): readonly LaneRunner[] {
    return [...this.#runners.values()];
  }

  /** That of a company that has had files, else undefined. */
  known(companyId: number): LaneRunner | undefined {
    return this.#runners.get(companyId);
  }

  /** Rejects when the company cannot be read now. */
  of(companyId: number): Promise<LaneRunner> {
    const known = this.#asked.get(companyId);
    if (known !== undefined) return known;
    const made = this.#make(companyId);
    this.#asked.set(companyId, made);
    made.catch(() => this.#asked.delete(companyId));
    return made;
  }

  /** The same with retries. Rejects only at the end of the process. */
  async surely(companyId: number): Promise<LaneRunner> {
    for (;;) {
      try {
        return await this.of(companyId);
      } catch (error) {
        if (this.#isStopped) throw error;
        this.#deps.failing.warn({ err: error, companyId }, "the company cannot be read; retrying");
        await new Promise((resolve) => setTimeout(resolve, askAgainMs));
      }
    }
  }

  /** What was decided since the start. */
  get figures(): DecisionStatistics {
    return this.#deps.figures;
  }

  /** A company that cannot be read is not retried any more. */
  beginStop(): void {
    this.#isStopped = true;
  }

  /** Each finishes the group that it has in hand. */
  async stop(): Promise<void> {
    for (const runner of this.#runners.values()) await runner.stop();
  }

  async #make(companyId: number): Promise<LaneRunner> {
    const { made, decided, left, gone, watch, companyCodeOf, figures, ...deps } = this.#deps;
    const code = await companyCodeOf(companyId);
    const { clock } = deps;
    const runner = new LaneRunner(
      { id: companyId, code },
      {
        ...deps,
        onDecided: (file, made) => {
          decided(file);
          const at = clock.now();
          figures.count(companyId, made, at);
          const { name, channel, userName } = file;
          const { id: fileId, state, faults } = made;
          watch?.decided({
            companyId,
            companyCode: code,
            fileId,
            name,
            channel,
            userName,
            state,
            faults,
            at,
          });
        },
        onGone: gone,
        onReceipt: (file) => {
          const delayMs = clock.now() - waitingSince(file);
          figures.receiptWritten(file.channel, delayMs);
          watch?.receiptWritten(companyId, delayMs);
        },
        onFiled: left,
      },
    );
    this.#runners.set(companyId, runner);
    await made(runner);
    return runner;
  }
}
