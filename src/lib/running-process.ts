/** A process that another one looks after, told from a later one with the same id. */
import { readdirSync, readFileSync } from "node:fs";

export interface RunningProcess {
  readonly pid: number;
  /** When it was started: ticks of the kernel since the machine was. */
  readonly startedTicks: number;
}

/** What the kernel says of a process: its state is one letter. Undefined when there is none, or it says nothing. */
function statOf(pid: number): { readonly state: string; readonly startedTicks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it, in brackets, may have spaces and brackets itself.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", startedTicks: Number(fields[19]) };
  } catch {
    return undefined; // It has gone, or the system has no /proc: then nobody waits for it.
  }
}

/** How many of its threads are left. */
function threadsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0; // It has gone at this moment.
  }
}

/** Undefined when no process has that id, or the system does not say. */
export function processOf(pid: number): RunningProcess | undefined {
  const found = statOf(pid);
  return found === undefined ? undefined : { pid, startedTicks: found.startedTicks };
}

/** Whether that process is still there. One that has ended, and whose parent has not asked for that, is not. */
export function isRunning({ pid, startedTicks }: RunningProcess): boolean {
  const found = statOf(pid);
  if (found?.startedTicks !== startedTicks) return false;
  // Of one that was killed, the first thread ends while another may hang in a call.
  return found.state !== "Z" || threadsOf(pid) > 1;
}
