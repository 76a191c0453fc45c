/** One daemon a state directory. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileSync } from "../../lib/files/changes.ts";
import { isStoreBusy } from "../../lib/store-error.ts";
import { lockExclusively } from "./sqlite-dialect.ts";
import { killPoint } from "../../lib/kill-point.ts";
import { OperatorError } from "../../lib/operator-error.ts";

export interface ProcessLock {
  release(): void;
}

function holderOf(pidPath: string): string {
  try {
    return `process ${readFileSync(pidPath, "utf8").trim()}`;
  } catch {
    // Only for the message: without the file the lock is held all the same.
    return "another process";
  }
}

/** Takes the lock of a state directory or throws an error that names the process that has it. */
export function takeProcessLock(stateDir: string): ProcessLock {
  const pidPath = join(stateDir, "dropgate.pid");
  try {
    const lock = lockExclusively(join(stateDir, "dropgate.lock"));
    killPoint("lock.taken");
    writeFileSync(pidPath, `${process.pid}\n`);
    return lock;
  } catch (error) {
    if (!isStoreBusy(error)) throw error;
    throw new OperatorError(`the state directory ${stateDir} is in use by ${holderOf(pidPath)}`, {
      cause: error,
    });
  }
}
