/**
 * Work of the page of health that takes long, in a process of its own, one at a time of each kind:
 *
 *   idle ──begin──> running ──result──> idle, with the result and its time
 *                      ├──failed──────> idle, with why; the result of before is kept
 *                      └──silent for too long, or the daemon stops──> killed; nobody waits for one that hangs
 *
 * The result is in memory: a restart forgets it. What a verification has found is in the store too.
 */
import { execFile } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { JobState } from "../../../endpoints/http/console/pages/health/health-view.ts";
import type { Clock } from "../../../lib/clock.ts";
import { minuteMs } from "../../../lib/durations.ts";
import { messageOf } from "../../../lib/errors.ts";
import { siblingModule } from "../../../lib/threads/sibling-module.ts";
import { waitText } from "../../../lib/wait-text.ts";
import type { HealthReport, HealthTask } from "./health-task.ts";

export interface HealthJobOptions extends HealthTask {
  readonly clock: Clock;
  /** How long it may say nothing; 10 minutes unless given. */
  readonly silentMs?: number;
  /** The program; tests put their own in. */
  readonly file?: string;
}

const usualSilentMs = 10 * minuteMs;
/** More than a result has. */
const mostOutput = 64 * 1024 * 1024;

/** Undefined for half a line, which a process leaves that is killed while it writes: its end says what became of it. */
function reportOf(line: string): HealthReport | undefined {
  try {
    return JSON.parse(line) as HealthReport;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

export class HealthJob<Result> {
  readonly #options: HealthJobOptions;
  #state: JobState<Result> = { running: undefined, last: undefined, failure: undefined };
  #stopping = new AbortController();

  constructor(options: HealthJobOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#state.running !== undefined;
  }

  get state(): JobState<Result> {
    return this.#state;
  }

  /** Begins, unless it runs already. What comes of it is in `state`. Never rejects. */
  begin(): void {
    if (this.isRunning || this.#stopping.signal.aborted) return;
    const { clock } = this.#options;
    this.#state = { ...this.#state, running: { since: clock.now(), progress: undefined } };
    this.#run().then(
      (result) => {
        this.#state = { running: undefined, last: { at: clock.now(), result }, failure: undefined };
      },
      (error: unknown) => {
        const failure = { at: clock.now(), message: messageOf(error) };
        this.#state = { ...this.#state, running: undefined, failure };
      },
    );
  }

  /** Kills it; waits for nothing: a process that hangs in a call to a dead share hears no signal. */
  async stop(): Promise<void> {
    this.#stopping.abort();
  }

  #run(): Promise<Result> {
    const { kind, configFile, silentMs = usualSilentMs } = this.#options;
    const { file = fileURLToPath(siblingModule("./health-process", import.meta.url)) } = this.#options;
    const args = ["--disable-warning=ExperimentalWarning", file, JSON.stringify({ kind, configFile })];
    const ended = Promise.withResolvers<Result>();
    const { signal } = this.#stopping;
    const how = { signal, killSignal: "SIGKILL", maxBuffer: mostOutput } as const;
    const child = execFile(process.execPath, args, how, (error, _stdout, stderr) => {
      const why = stderr.trim() || (error === null ? "it ended without a result" : error.message);
      ended.reject(new Error(why, { cause: error }));
    });
    const silence = setTimeout(() => {
      child.kill("SIGKILL");
      ended.reject(new Error(`it said nothing for ${waitText(silentMs)}, and was ended`));
    }, silentMs);
    if (child.stdout !== null)
      createInterface({ input: child.stdout }).on("line", (line) => {
        silence.refresh();
        const report = reportOf(line);
        if (report !== undefined) this.#hear(report, ended.resolve);
      });
    return ended.promise.finally(() => clearTimeout(silence));
  }

  #hear(report: HealthReport, resolve: (result: Result) => void): void {
    if (report.kind === "result") resolve(report.result as Result);
    else if (this.#state.running !== undefined) {
      const { entries, total } = report;
      this.#state = { ...this.#state, running: { ...this.#state.running, progress: { entries, total } } };
    }
  }
}
