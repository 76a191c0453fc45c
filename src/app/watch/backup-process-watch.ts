/**
 * The process that makes a backup for the daemon, and whether it gets anywhere. It prints a line break each time that it has
 * got further. Where it says nothing for long, as while it reads a large table, the bytes that it has read and written tell:
 * `/proc/PID/io` counts them. A call to a dead share never returns and moves none, however long others of its kind take.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { minuteMs, secondMs } from "../../lib/durations.ts";
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import { waitText } from "../../lib/wait-text.ts";
import type { BackupReport, MakeBackup } from "./backup-task.ts";

export interface BackupProcessOptions {
  /** How long it may go without progress before it is ended. Default 10 minutes. */
  readonly idleMs?: number;
  /** Time between two looks at it. Default 10 s. */
  readonly lookMs?: number;
  /** The program; tests put their own in. */
  readonly file?: string;
}

const defaultIdleMs = 10 * minuteMs;
const defaultLookMs = 10 * secondMs;
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

function idleText(idleMs: number, folder: string | undefined): string {
  const where = folder === undefined ? "" : ` ${folder}`;
  return (
    `the backup made no progress for ${waitText(idleMs)}, and its process was ended: see whether the disk or share of the ` +
    `folder of backups${where} and that of the state answer`
  );
}

/** Makes backups, each in a process of its own. */
export function createBackupProcess(options: BackupProcessOptions = {}): MakeBackup {
  const { idleMs = defaultIdleMs, lookMs = defaultLookMs, file = programFile() } = options;
  return async (task, progressed, signal) => {
    const made = Promise.withResolvers<BackupReport>();
    const args = ["--disable-warning=ExperimentalWarning", file, JSON.stringify(task)];
    // One that is stopped hears nothing else; a backup that was killed is as good as one that was interrupted.
    const how = { signal, killSignal: "SIGKILL" } as const;
    const child = execFile(process.execPath, args, how, (error, stdout, stderr) => {
      try {
        if (error === null) made.resolve(JSON.parse(stdout) as BackupReport);
        else made.reject(new Error(stderr.trim() === "" ? error.message : stderr.trim(), { cause: error }));
      } catch (cause) {
        made.reject(new Error("the process that made the backup gave no report", { cause }));
      }
    });
    const progress = new Progress(progressed);
    child.stdout?.on("data", () => progress.note());
    const { pid } = child;
    const look = async () => {
      // In this order: what it did while this process itself was held up counts.
      if (pid !== undefined) progress.moved(await bytesMovedBy(pid));
      if (progress.idleMs < idleMs) return;
      child.kill("SIGKILL");
      // In a call to a dead share even a killed process may stay: nobody waits for it.
      made.reject(new Error(idleText(progress.idleMs, task.config.backup.folder)));
    };
    const timer = setInterval(() => void look(), lookMs);
    return await made.promise.finally(() => clearInterval(timer));
  };
}
