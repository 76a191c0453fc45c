/**
 * The clock of a file system, by a file of our own on it: that of the server that has the disk, in which the times of change
 * (ctime) of all its files are told. Programs set the mtime of a file as they like; its ctime nobody sets.
 */
import { stat } from "node:fs/promises";
import { utimes } from "./changes.ts";

/** An mtime that no clock tells any more. */
const long = new Date(86_400_000);
const nearMs = 60_000;

export interface ChangeClock {
  /** The device that has the file. */
  readonly dev: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * Reads the clock, by setting the times of the file. Undefined where there is none to trust: some shares answer with the
 * mtime where the ctime is asked for. Rejects when the file cannot be used.
 */
export async function readChangeClock(file: string): Promise<ChangeClock | undefined> {
  await utimes(file, long, long);
  const { dev, ctimeMs } = await stat(file);
  return Math.abs(ctimeMs - long.getTime()) < nearMs ? undefined : { dev, nowMs: ctimeMs };
}
