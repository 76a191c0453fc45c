/**
 * Probes a folder that may be on a share whose server is gone. A call to such a share does not return, and keeps a
 * thread without which this process cannot end; so a process of its own makes the call, and is ended when it takes too
 * long.
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
}

type Answer =
  | { readonly kind: "answered"; readonly output: string }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "silent" };

/** Has a process of its own make calls that may never return. */
export async function askProcess({ file, args, timeoutMs }: Question): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const options = ["--disable-warning=ExperimentalWarning", file, ...args];
  const child = execFile(process.execPath, options, (error, output) => {
    if (error === null) resolve({ kind: "answered", output });
    else resolve({ kind: "failed", message: messageOf(error) });
  });
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    // In a call to a dead share even a killed process may stay: nobody waits for it.
    resolve({ kind: "silent" });
  }, timeoutMs);
  return await promise.finally(() => clearTimeout(timer));
}

/** The probe with another time, or another program. */
export function createFolderProbe({ timeoutMs, file = programFile() }: ProbeOptions): ProbeFolder {
  return async ({ path, rights }) => {
    const answer = await askProcess({ file, args: [path, String(rights)], timeoutMs });
    if (answer.kind === "answered") return JSON.parse(answer.output) as FolderProbe;
    return answer.kind === "silent" ? answer : { kind: "failed", code: answer.message };
  };
}

export const probeFolder: ProbeFolder = createFolderProbe({ timeoutMs: probeSeconds * 1_000 });
