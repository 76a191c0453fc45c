/**
 * One daemon a state directory. The lock is one that the kernel gives back when the process dies, however it dies:
 * an exclusive lock on a small database of its own, so that no two copies of SQLite share a file.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { killPoint } from "../lib/kill-point.ts";

export interface ProcessLock {
  release(): void;
}

function holderOf(pidPath: string): string {
  try {
    return `process ${readFileSync(pidPath, "utf8").trim()}`;
  } catch {
    // Only words for the message: without the file the lock is held all the same.
    return "another process";
  }
}

/** Takes the lock of a state directory or throws an error that names the process that has it. */
export function takeProcessLock(stateDir: string): ProcessLock {
  const pidPath = join(stateDir, "dropgate.pid");
  const database = new BetterSqlite(join(stateDir, "dropgate.lock"), { timeout: 0 });
  try {
    database.pragma("journal_mode = MEMORY");
    database.exec("begin exclusive");
  } catch (error) {
    database.close();
    throw new Error(`the state directory ${stateDir} is in use by ${holderOf(pidPath)}`, { cause: error });
  }
  killPoint("lock.taken");
  writeFileSync(pidPath, `${process.pid}\n`);
  killPoint("lock.pidWritten");
  return { release: () => database.close() };
}
