/**
 * The process in which vitest runs the tests of a mutation run: one for all changes, as long as nothing is left over in it.
 * A new one for each change would load the program again each time, which takes longer than the tests.
 *
 * What is left over (timers, a socket, a thread) shows that a test ended early, or that a change has broken the clearing up;
 * then the next change gets a new process. `report-left-over.ts` looks, in the process.
 */
import { ForksPoolWorker, type PoolOptions, type PoolWorker } from "vitest/node";
import { isLeftOverReport, type LeftOverReport } from "./left-over.ts";

type Listener = (message: unknown) => void;

/** Each run adds listeners of vitest, and only the last ones are of use: a new process clears them. */
const mostRuns = 100;

let kept: { readonly process: ForksPoolWorker; runs: number } | undefined;

export class KeptProcess implements PoolWorker {
  readonly name = "kept-process";
  readonly cacheFs = true;
  readonly #options: PoolOptions;
  readonly #listeners: { event: string; given: Listener; used: Listener }[] = [];
  #process: ForksPoolWorker | undefined;
  #runs = 0;
  #isClean = false;
  #isToBeKept = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { process, runs } = kept ?? { process: await startedProcess(this.#options), runs: 0 };
    kept = undefined;
    this.#process = process;
    this.#runs = runs + 1;
  }

  on(event: string, given: Listener): void {
    const used: Listener = (message) => {
      if (isLeftOverReport(message)) this.#isClean = isClean(message);
      else given(message);
    };
    this.#listeners.push({ event, given, used: event === "message" ? used : given });
    this.#process?.on(event, event === "message" ? used : given);
  }

  off(event: string, given: Listener): void {
    const at = this.#listeners.findIndex((one) => one.event === event && one.given === given);
    const [found] = at < 0 ? [] : this.#listeners.splice(at, 1);
    if (found !== undefined) this.#process?.off(event, found.used);
  }

  /** The request to stop is answered here when the process goes on. */
  send(message: Parameters<PoolWorker["send"]>[0]): void {
    this.#isToBeKept = message.type === "stop" && this.#isClean && this.#runs < mostRuns;
    if (!this.#isToBeKept) this.#process?.send(message);
    else {
      const answer = { type: "stopped", __vitest_worker_response__: true };
      for (const { event, given } of [...this.#listeners]) if (event === "message") given(answer);
    }
  }

  async stop(): Promise<void> {
    if (this.#process === undefined) return;
    if (!this.#isToBeKept) return await this.#process.stop();
    for (const { event, used } of this.#listeners.splice(0)) this.#process.off(event, used);
    kept = { process: this.#process, runs: this.#runs };
  }

  deserialize(data: unknown): unknown {
    return data;
  }
}

async function startedProcess(options: PoolOptions): Promise<ForksPoolWorker> {
  const process = new ForksPoolWorker(options);
  await process.start();
  process.on("exit", () => {
    if (kept?.process === process) kept = undefined;
  });
  return process;
}

/** One timer is no work: of a wait that has been given up, or of vitest itself. */
function isClean({ leftOver }: LeftOverReport): boolean {
  return leftOver.length === 0 || (leftOver.length === 1 && leftOver[0] === "Timeout");
}
