/**
 * Looks into folders that may be on a share whose server is gone, also when it went after a probe had an answer: a process of
 * its own makes the calls (`foreign-looks-process.ts`), one at a time for each folder. A folder that gives no answer within
 * the time of a probe is not asked again, and nothing is found in it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type {
  FolderLooks,
  LooseFile,
  LoosePlace,
  PathPresence,
} from "../../inbound/recovery/folder-looks.ts";
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import { probeSeconds } from "./folder-probe.ts";

/** What the process is asked; `folder` is the one that may be dead. */
export type LookQuestion =
  | { readonly kind: "names"; readonly folder: string }
  | { readonly kind: "file"; readonly folder: string; readonly place: LoosePlace }
  | { readonly kind: "presence"; readonly folder: string; readonly path: string };

/** What it answers: `found` is missing when it is nothing. */
export type LookAnswer =
  | { readonly kind: "found"; readonly found?: unknown }
  | { readonly kind: "failed"; readonly code: string };

/** Why nothing more is asked of a folder. */
export type ForeignFault = { readonly kind: "silent" } | { readonly kind: "failed"; readonly code: string };

interface Options {
  readonly timeoutMs: number;
  /** The program that looks; tests put their own in. */
  readonly file: string;
}

const standard: Options = {
  timeoutMs: probeSeconds * 1_000,
  file: fileURLToPath(siblingModule("./foreign-looks-process", import.meta.url)),
};

/** Calls that never return keep a thread each; the runtime takes no more. */
const threads = 1_024;

export class ForeignLooks implements FolderLooks {
  readonly #options: Options;
  readonly #faults = new Map<string, ForeignFault>();
  /** By the folder, its question in hand or the last one. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<number, (answer: LookAnswer) => void>();
  #child: ChildProcess | undefined;
  #asked = 0;

  constructor(options: Partial<Options> = {}) {
    this.#options = { ...standard, ...options };
  }

  /** By the folder; of those that answered nothing is here. */
  get faults(): ReadonlyMap<string, ForeignFault> {
    return this.#faults;
  }

  async namesIn(folder: string): Promise<readonly string[]> {
    const found = await this.#ask({ kind: "names", folder });
    return (found as readonly string[] | undefined) ?? [];
  }

  async fileAt(folder: string, place: LoosePlace): Promise<LooseFile | undefined> {
    return (await this.#ask({ kind: "file", folder, place })) as LooseFile | undefined;
  }

  async presenceOf(folder: string, path: string): Promise<PathPresence> {
    const found = await this.#ask({ kind: "presence", folder, path });
    const otherwise = this.#faults.get(folder)?.kind === "silent" ? "silent" : "unreadable";
    return (found as PathPresence | undefined) ?? otherwise;
  }

  /** Ends the process. In a call to a dead share even a killed one may stay: nobody waits for it. */
  end(): void {
    this.#child?.kill("SIGKILL");
    this.#child?.unref();
    this.#child?.channel?.unref();
    this.#child = undefined;
  }

  /** What was found; undefined when it is nothing, and of a folder with a fault. */
  async #ask(question: LookQuestion): Promise<unknown> {
    const { folder } = question;
    const turn = (this.#turns.get(folder) ?? Promise.resolve()).then(async () => {
      if (this.#faults.has(folder)) return undefined;
      const answer = await this.#answerTo(question);
      if (answer?.kind === "found") return answer.found;
      this.#faults.set(folder, answer ?? { kind: "silent" });
      return undefined;
    });
    this.#turns.set(folder, turn);
    return await turn;
  }

  /** Undefined when there was none in time. */
  async #answerTo(question: LookQuestion): Promise<LookAnswer | undefined> {
    const { promise, resolve } = Promise.withResolvers<LookAnswer | undefined>();
    this.#asked += 1;
    const nbr = this.#asked;
    this.#waiting.set(nbr, resolve);
    const timer = setTimeout(() => resolve(undefined), this.#options.timeoutMs);
    // When the process has gone, its end is the answer.
    this.#process().send({ nbr, question }, () => undefined);
    return await promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(nbr);
    });
  }

  #process(): ChildProcess {
    if (this.#child !== undefined) return this.#child;
    const child = fork(this.#options.file, [], {
      execArgv: ["--disable-warning=ExperimentalWarning"],
      env: { ...process.env, UV_THREADPOOL_SIZE: String(threads) },
      // One that hangs in a call stays when it is killed, with all that it has open: nobody may wait for the end of that.
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.on("message", ({ nbr, answer }: { readonly nbr: number; readonly answer: LookAnswer }) =>
      this.#waiting.get(nbr)?.(answer),
    );
    const ended = (why: string) => {
      this.#child = undefined;
      for (const resolve of this.#waiting.values()) resolve({ kind: "failed", code: why });
    };
    child.on("error", ({ message }) => ended(message));
    child.on("exit", (code, signal) => ended(`the process that looks has ended (${signal ?? code})`));
    this.#child = child;
    return child;
  }
}
