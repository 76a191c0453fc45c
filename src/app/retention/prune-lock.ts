/** One pass at a time: the daemon and a command would get into one another's files. */
import { join } from "node:path";
import { lockOrRefuse } from "../../store/database/process-lock.ts";

const lockName = "dropgate.prune.lock";

/** Rejects with an `OperatorError` when another process is at it; the lock goes with its process. */
export async function withPruneLock<T>(stateDir: string, work: () => Promise<T>): Promise<T> {
  const message = `another process is removing what is too old in ${stateDir}: wait until it is done`;
  const lock = lockOrRefuse(join(stateDir, lockName), () => message);
  try {
    return await work();
  } finally {
    lock.release();
  }
}
