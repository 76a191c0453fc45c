/**
 * The process that makes a backup for the daemon, and whether it gets anywhere. It prints a line break each time that it has
 * got further. Where it says nothing for long, as while it reads a large table, the bytes that it has read and written tell:
 * `/proc/PID/io` counts them. A call to a dead share never returns and moves none, however long others of its kind take.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { minuteMs, secondMs } from "../../lib/durations.ts";
import { given } from "../../lib/given.ts";
import { isRunning, processOf, type RunningProcess } from "../../lib/running-process.ts";
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import { waitText } from "../../lib/wait-text.ts";
import type { HungBackup } from "../../store/database/backup-state.ts";
import { type BackupReport, HungBackupError, type MadeBackup, type MakeBackup } from "./backup-task.ts";

export interface BackupProcessOptions {
  /** How long it may go without progress before it is ended. Default 10 minutes. */
  readonly idleMs?: number;
  /** Time between two looks at it. Default 10 s. */
  readonly lookMs?: number;
  /** How long it may take to be gone after it was killed. Default 5 s. */
  readonly endMs?: number;
  /** The program; tests put their own in. */
  readonly file?: string;
  /** Kills it; tests put in what does not, as in a call to a dead share nothing does. */
  readonly kill?: () => void;
}

const defaultIdleMs = 10 * minuteMs;
const defaultLookMs = 10 * secondMs;
const defaultEndMs = 5 * secondMs;
/** A process that only waits wakes its own threads now and then, and that counts as some bytes. */
const leastBytes = 64 * 1024;

function programFile(): string {
  return fileURLToPath(siblingModule("../admin/backup-process", import.meta.url));
}

/** How many bytes the process has read and written; undefined where the system does not say. */
async function bytesMovedBy(pid: number): Promise<number | undefined> {
  // The process has ended, or belongs to another user: then its own reports alone count.
  const text = await readFile(`/proc/${pid}/io`, "utf8").catch(() => undefined);
  const counts = text?.match(/(?<=^[rw]char: )\d+/gm);
  return counts?.reduce((sum, count) => sum + Number(count), 0);
}

/** When the process has last got further, by its reports and by the bytes that it has moved. */
class Progress {
  readonly #progressed: () => void;
  #bytes = 0;
  #lastMs = performance.now();

  constructor(progressed: () => void) {
    this.#progressed = progressed;
  }

  get idleMs(): number {
    return performance.now() - this.#lastMs;
  }

  note(): void {
    this.#lastMs = performance.now();
    this.#progressed();
  }

  moved(bytes: number | undefined): void {
    if (bytes === undefined || bytes - this.#bytes < leastBytes) return;
    this.#bytes = bytes;
    this.note();
  }
}

interface Idle {
  readonly idleMs: number;
  readonly folder: string | undefined;
  /** The process, when it hangs. */
  readonly hangs: RunningProcess | undefined;
  /** Whether only older ones were to be removed. */
  readonly isMade: boolean;
}

function idleText({ idleMs, folder, hangs, isMade }: Idle): string {
  const where = folder === undefined ? "" : ` ${folder}`;
  const what = isMade ? "the removal of older backups" : "the backup";
  const idle = `${what} made no progress for ${waitText(idleMs)}, and its process`;
  if (hangs === undefined)
    return (
      `${idle} was ended: see whether the disk or share of the folder of backups${where} and that of the state ` +
      "answer"
    );
  return (
    `${idle} ${hangs.pid} cannot be ended: it hangs in a call to the folder of backups${where} or to the state. Bring the ` +
    "disk or share back, or unmount it with `umount -f`; no backup is made until the process is gone"
  );
}

/** The last whole report; undefined before the backup is made. */
function reportIn(output: string): BackupReport | undefined {
  // What is behind the last line break was cut off.
  const line = output
    .split("\n")
    .slice(0, -1)
    .findLast((text) => text !== "");
  return line === undefined ? undefined : (JSON.parse(line) as BackupReport);
}

interface Ended {
  readonly output: string;
  /** Why the process has not come to its end. */
  readonly failure?: Error | undefined;
  readonly hung?: HungBackup | undefined;
}

/** What was made; throws when nothing was. One that was made is, whatever has come after. */
function madeBy({ output, failure, hung }: Ended): MadeBackup {
  const report = reportIn(output);
  if (report !== undefined && failure === undefined) return report;
  if (report !== undefined) return { ...report, notRemoved: failure?.message ?? "", ...given({ hung }) };
  if (hung !== undefined) throw new HungBackupError(hung);
  throw failure ?? new Error("the process that made the backup gave no report");
}

/** Kills the process; returns it when it is still there after that. */
async function end(
  child: ChildProcess,
  { endMs = defaultEndMs, kill = () => child.kill("SIGKILL") }: BackupProcessOptions,
): Promise<RunningProcess | undefined> {
  const process = child.pid === undefined ? undefined : processOf(child.pid);
  const exited = new Promise((resolve) => child.once("exit", resolve));
  kill();
  // In a call to a dead share even a killed process stays: nobody waits for it.
  await Promise.race([exited, setTimeout(endMs, undefined, { ref: false })]);
  return process !== undefined && isRunning(process) ? process : undefined;
}

/** Makes backups, each in a process of its own. */
export function createBackupProcess(options: BackupProcessOptions = {}): MakeBackup {
  const { idleMs = defaultIdleMs, lookMs = defaultLookMs, file = programFile() } = options;
  return async (task, progressed, signal) => {
    const ended = Promise.withResolvers<Omit<Ended, "output">>();
    const args = ["--disable-warning=ExperimentalWarning", file, JSON.stringify(task)];
    // One that is stopped hears nothing else; a backup that was killed is as good as one that was interrupted.
    const how = { signal, killSignal: "SIGKILL" } as const;
    let isIdle = false;
    const child = execFile(process.execPath, args, how, (error, _stdout, stderr) => {
      if (error === null) ended.resolve({});
      else if (!isIdle || signal.aborted)
        ended.resolve({ failure: new Error(stderr.trim() || error.message, { cause: error }) });
    });
    const progress = new Progress(progressed);
    let output = "";
    child.stdout?.on("data", (text: string) => {
      output += text;
      progress.note();
    });
    const look = async () => {
      // In this order: what it did while this process itself was held up counts.
      if (child.pid !== undefined) progress.moved(await bytesMovedBy(child.pid));
      if (isIdle || progress.idleMs < idleMs) return;
      isIdle = true;
      const hangs = await end(child, options);
      const idle = { idleMs: progress.idleMs, folder: task.config.backup.folder, hangs };
      const message = idleText({ ...idle, isMade: reportIn(output) !== undefined });
      ended.resolve({ failure: new Error(message), hung: hangs && { process: hangs, message } });
    };
    const timer = setInterval(() => void look().catch(ended.reject), lookMs);
    const outcome = await ended.promise.finally(() => clearInterval(timer));
    return madeBy({ output, ...outcome });
  };
}
