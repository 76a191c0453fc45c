/**
 * One mapping process as the pool sees it: starting → ready ⇄ busy → ended. It is ended from outside when a job is over its
 * time or its memory: a process that is stuck cannot tell. It has no environment (which may hold secrets), no working folder,
 * and may read nothing but the compiled program and its packages.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { messageOf } from "../lib/errors.ts";
import { memoryExitCode } from "../lib/threads/hosted-worker.ts";
import { siblingModule } from "../lib/threads/sibling-module.ts";
import type { EndReason } from "../lib/threads/worker-host.ts";
import type { MappingJob, MappingOutcome } from "./map-body.ts";
import { ProcessWatch } from "./process-watch.ts";

/** What a process is sent. */
export interface JobMessage {
  readonly job: MappingJob;
  /** The memory of the XML parser, beyond which the process ends with `memoryExitCode`. */
  readonly maxParserBytes: number;
}

/** What it answers. */
export type ProcessReport =
  | { readonly kind: "ready" }
  | {
      readonly kind: "done";
      readonly outcome: MappingOutcome;
      /** Its memory has grown, and some of it will not shrink: the process should be replaced. */
      readonly isWornOut: boolean;
    };

export interface ProcessLimits {
  readonly maxHeapMb: number;
  /** All memory of the process while it works. */
  readonly maxMemoryMb: number;
  readonly maxParserMb: number;
}

export interface ProcessEvents {
  /** It waits for a job: after its start, and after each. */
  free(process: MappingProcess): void;
  done(process: MappingProcess, outcome: MappingOutcome): void;
  ended(process: MappingProcess, end: { readonly reason: EndReason; readonly detail: string }): void;
}

/** jsonata's own limit comes first, for it names itself; behind it the process is ended. */
const graceMs = 500;
const startTimeoutMs = 30_000;
const maxErrorText = 4_000;

function workerFile(): string {
  return fileURLToPath(siblingModule("./mapping-worker", import.meta.url));
}

/** For `fork`; the program has to be what stands under `../`. */
export function nodeOptions({ maxHeapMb }: ProcessLimits): string[] {
  // Not the whole folder of the program: `npm start` keeps its state in it.
  const readable = ["../", "../../node_modules/", "../../package.json"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return [
    `--max-old-space-size=${maxHeapMb}`,
    "--max-semi-space-size=4",
    "--disable-warning=ExperimentalWarning",
    // A pattern that backtracks without end goes on in the engine that cannot; look-arounds it does not know.
    "--enable-experimental-regexp-engine-on-excessive-backtracks",
    ...(process.allowedNodeEnvironmentFlags.has("--permission")
      ? ["--permission", ...readable.map((path) => `--allow-fs-read=${path}`)]
      : []),
  ];
}

/** V8 ends a process that it cannot give memory with an abort or a trap, and says so. */
function reasonOf(code: number | null, signal: NodeJS.Signals | null, text: string): EndReason {
  if (code === memoryExitCode || /out of memory|Allocation failed|invalid .*size/i.test(text))
    return "memory";
  return signal === "SIGTRAP" || signal === "SIGABRT" ? "memory" : "crash";
}

export class MappingProcess {
  readonly #events: ProcessEvents;
  readonly #limits: ProcessLimits;
  readonly #child: ChildProcess;
  readonly #exited = Promise.withResolvers<void>();
  #errorText = "";
  #reason: EndReason | undefined;
  readonly #watch: ProcessWatch;
  #isStarted = false;

  constructor(limits: ProcessLimits, events: ProcessEvents) {
    this.#limits = limits;
    this.#events = events;
    this.#child = fork(workerFile(), [], {
      execArgv: nodeOptions(limits),
      env: {},
      cwd: "/",
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#watch = new ProcessWatch(this.#child, limits.maxMemoryMb);
    this.#watch.time(startTimeoutMs, () => this.#endFor("crash"));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#note(text));
    this.#child.on("message", (report: ProcessReport) => this.#receive(report));
    // A channel that breaks, or a program that cannot be run: `exit` follows, or never came to be.
    this.#child.on("error", (error) => this.#failed(error));
    this.#child.on("exit", (code, signal) => this.#ended(code, signal));
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Gives it a job; it must be free. */
  send(job: MappingJob): void {
    const message: JobMessage = { job, maxParserBytes: this.#limits.maxParserMb * 1024 * 1024 };
    this.#watch.time(job.integration.timeoutMs + graceMs, () => this.#endFor("time"));
    this.#watch.memory(() => this.#endFor("memory"));
    // An error of the channel comes as `error` too; the callback keeps it from being thrown.
    this.#child.send(message, () => undefined);
  }

  /** Ends it now. Resolves when it has gone. */
  async end(): Promise<void> {
    this.#endFor("stopped");
    await this.#exited.promise;
  }

  #note(text: string): void {
    this.#errorText = (this.#errorText + text).slice(0, maxErrorText);
  }

  #receive(report: ProcessReport): void {
    this.#watch.rest();
    if (report.kind === "ready") this.#isStarted = true;
    else this.#events.done(this, report.outcome);
    if (report.kind !== "ready" && report.isWornOut) this.#endFor("stopped");
    else this.#events.free(this);
  }

  #endFor(reason: EndReason): void {
    this.#watch.rest();
    this.#reason ??= reason;
    this.#child.kill("SIGKILL");
  }

  #failed(error: Error): void {
    this.#note(`${messageOf(error)}\n`);
    if (this.#child.pid === undefined) this.#ended(null, null);
    else this.#endFor("crash");
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    this.#watch.rest();
    this.#exited.resolve();
    const reason = this.#reason ?? reasonOf(code, signal, this.#errorText);
    const fatal = /FATAL ERROR:.*|Error:.*/.exec(this.#errorText)?.[0] ?? "";
    this.#events.ended(this, { reason, detail: `${fatal} (exit ${code ?? signal ?? "none"})`.trim() });
  }
}
