/**
 * Where a run of the benches keeps its files. Nothing is removed before the end of the whole run: ext4 steps over every
 * inode that was freed within the last minutes, one by one, and the files that are made next would pay for it.
 */
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { runProgram } from "./run-program.ts";

let root: string | undefined;
let isKept = false;

/** Leaves everything in place at the end: for a look at it, and for the next run, which finds a quiet file system. */
export function keepFolders(): void {
  isKept = true;
}

/** A new folder of this run. */
export function newFolder(kind: string): Promise<string> {
  if (root === undefined) {
    const made = mkdtempSync(join(tmpdir(), "dropgate-bench-"));
    root = made;
    process.once("exit", () => {
      if (!isKept) rmSync(made, { recursive: true, force: true });
    });
  }
  return mkdtemp(join(root, `${kind}-`));
}

/** Resolves when what was written so far lies on the disk, so that nothing of it is written while something is measured. */
export async function settleDisk(): Promise<void> {
  await runProgram("sync", []);
}

const probes = 200;
const quickMs = 0.1;
const longestMs = 420_000;

/** Milliseconds that it takes to make a file, the median of some. */
async function creationMs(): Promise<number> {
  const folder = await newFolder("probe");
  const took: number[] = [];
  for (let file = 0; file < probes; file += 1) {
    const begun = performance.now();
    closeSync(openSync(join(folder, `${file}`), "wx"));
    took.push(performance.now() - begun);
  }
  return took.toSorted((a, b) => a - b)[probes / 2] ?? 0;
}

/**
 * Resolves when the file system makes files as quickly as it can, and at most seven minutes later. Gives the last
 * figure, in milliseconds for one file.
 */
export async function untilFilesAreMadeQuickly(): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const ms = await creationMs();
    if (ms < quickMs || performance.now() - begun > longestMs) return ms;
    await wait(10_000);
  }
}
