/** Threads of lower priority than the one that serves the connections and keeps the order. */
import { getPriority, setPriority } from "node:os";

/** A third of the weight of a thread at 0, whatever the machine; a machine with a free core gives it all it wants. */
const stepsBack = 5;
const lowest = 19;
/** A tenth of that weight, for a process that nobody waits for. */
export const stepsFarBack = 10;

/**
 * The calling thread gets what the other threads of the process leave of the processors. On Linux alone: there each
 * thread has a priority of its own, elsewhere it would be that of the whole process.
 */
export function stepBack(steps = stepsBack): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, Math.min(lowest, getPriority(0) + steps));
  } catch {
    // Where the call is forbidden, as by a filter of system calls, the thread works at the priority of the others.
  }
}
