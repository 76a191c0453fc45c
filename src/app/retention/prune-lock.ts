/**
 * One pass at a time: the daemon and a command would get into one another's files. Nodes that share a tree prune beside one
 * another, each for the companies that it has, and beside no command.
 */
import { join } from "node:path";
import { OperatorError } from "../../lib/operator-error.ts";
import { lockOrRefuse, type ProcessLock } from "../../store/database/process-lock.ts";

const lockName = "dropgate.prune.lock";

function refuse(refusal: OperatorError): never {
  throw refusal;
}

/** Rejects with an `OperatorError`, or does `otherwise`, when another process is at it; the lock goes with its process. */
export async function withPruneLock<T>(
  { stateDir, isShared = false }: { readonly stateDir: string; readonly isShared?: boolean },
  work: () => Promise<T>,
  otherwise: (refusal: OperatorError) => T = refuse,
): Promise<T> {
  const message = `another process is removing what is too old in ${stateDir}: wait until it is done`;
  let lock: ProcessLock;
  try {
    lock = lockOrRefuse(join(stateDir, lockName), () => message, { isShared });
  } catch (error) {
    if (error instanceof OperatorError) return otherwise(error);
    throw error;
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}
