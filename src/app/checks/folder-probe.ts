/**
 * Probes folders that may be on a share whose server is gone. A call to such a share does not return, and keeps a thread
 * without which this process cannot end; so a process of its own makes the calls, and is ended when they take too long.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { messageOf } from "../../lib/errors.ts";
import { siblingModule } from "../../lib/threads/sibling-module.ts";

export type FolderProbe =
  /** A folder that can be used as requested. */
  | {
      readonly kind: "usable";
      /** The number of its file system. */
      readonly dev: number;
      /** What users may still write on it. */
      readonly freeBytes: number;
      /** Whether something is mounted at the folder itself. */
      readonly isMountPoint: boolean;
    }
  | { readonly kind: "notAFolder" }
  /** It cannot be examined, or (`refused`) not be used; the code of the system. */
  | { readonly kind: "failed" | "refused"; readonly code: string }
  /** No answer within the time. */
  | { readonly kind: "silent" };

export interface ProbedFolder {
  readonly path: string;
  /** As for access(2): what this user is to be allowed. */
  readonly rights: number;
}

export type ProbeFolder = (folder: ProbedFolder) => Promise<FolderProbe>;
/** The results in the order of the folders. */
export type ProbeFolders = (folders: readonly ProbedFolder[]) => Promise<readonly FolderProbe[]>;

/** How long a process that probes is waited for. */
export const probeSeconds = 10;
/** How many folders are probed at the same time. */
export const probesAtOnce = 8;

/** The message for a folder that does not answer. */
export function silentText(title: string): string {
  return `${title} does not answer within ${probeSeconds} seconds`;
}

function programFile(): string {
  return fileURLToPath(siblingModule("./folder-probe-process", import.meta.url));
}

interface ProbeOptions {
  readonly timeoutMs: number;
  /** The program that probes; tests put their own in. */
  readonly file?: string;
}

interface Question {
  /** The program. */
  readonly file: string;
  readonly args: readonly string[];
  readonly timeoutMs: number;
  /** Threads for calls to file systems; those of the runtime when not given. */
  readonly threads?: number;
}

interface Answer {
  /** `silent`: the process was ended when its time was over. */
  readonly kind: "answered" | "failed" | "silent";
  /** What it has written so far. */
  readonly output: string;
  /** Why it failed. */
  readonly message?: string;
}

/** Has a process of its own make calls that may never return. */
export async function askProcess({ file, args, timeoutMs, threads }: Question): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const env = threads === undefined ? process.env : { ...process.env, UV_THREADPOOL_SIZE: String(threads) };
  const child = execFile(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", file, ...args],
    { env },
    (error, output) => {
      if (error === null) resolve({ kind: "answered", output });
      else resolve({ kind: "failed", output, message: messageOf(error) });
    },
  );
  let sofar = "";
  child.stdout?.on("data", (text: string) => (sofar += text));
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    // In a call to a dead share even a killed process may stay: nobody waits for it.
    resolve({ kind: "silent", output: sofar });
  }, timeoutMs);
  return await promise.finally(() => clearTimeout(timer));
}

/** The runtime takes no more. */
const mostThreads = 1_024;
const fewestThreads = 4;

interface ProbeLine {
  readonly place: number;
  readonly found: FolderProbe;
}

/** The last line may be cut off. */
function linesOf(output: string): readonly ProbeLine[] {
  return output
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ProbeLine);
}

/** Probes of several folders in one process, by their places; with another time, or another program. */
export function createFolderProbes({ timeoutMs, file = programFile() }: ProbeOptions): ProbeFolders {
  return async (folders) => {
    if (folders.length === 0) return [];
    const args = folders.flatMap(({ path, rights }) => [String(rights), path]);
    // One for each folder: calls that never return take none from the others.
    const threads = Math.min(mostThreads, Math.max(fewestThreads, folders.length));
    const { kind, output, message = "" } = await askProcess({ file, args, timeoutMs, threads });
    const missing: FolderProbe = kind === "silent" ? { kind: "silent" } : { kind: "failed", code: message };
    const answers = new Map(linesOf(output).map(({ place, found }) => [place, found]));
    return folders.map((_, place) => answers.get(place) ?? missing);
  };
}

/** The probe of one folder with another time, or another program. */
export function createFolderProbe(options: ProbeOptions): ProbeFolder {
  const probes = createFolderProbes(options);
  return async (folder) => {
    const [found] = await probes([folder]);
    if (found === undefined) throw new Error("a probe gives a result for each folder");
    return found;
  };
}

const standard = { timeoutMs: probeSeconds * 1_000 };

export const probeFolder: ProbeFolder = createFolderProbe(standard);
export const probeFolders: ProbeFolders = createFolderProbes(standard);
