/** Uploads that were answered and stand only in the journal: the next start puts them in their places. */
import { constants } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readJournal } from "../exchange/journal-file.ts";
import { type JournalNote, journalFileNames } from "../exchange/upload-journal.ts";
import { systemDisk } from "../lib/durable-file.ts";
import { unlessMissing } from "../lib/errors.ts";

async function pathsNotedIn(file: string): Promise<readonly string[]> {
  const fd = await systemDisk.open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch(unlessMissing);
  if (fd === undefined) return [];
  const paths: string[] = [];
  try {
    for await (const { note } of readJournal(systemDisk, fd))
      paths.push((JSON.parse(note) as JournalNote).path);
  } finally {
    await systemDisk.close(fd);
  }
  return paths;
}

/** Uploads beside the journal, which an earlier start could not put in their places. */
async function countKept(journalDir: string): Promise<number> {
  const names = (await readdir(join(journalDir, "kept")).catch(unlessMissing)) ?? [];
  return names.filter((name) => name.endsWith(".json")).length;
}

/**
 * How many uploads the next start takes out of the journal of a state directory without a daemon; those that stand under
 * their names in `inbound/` as well are not counted.
 */
export async function countUploadsToRecover(stateDir: string): Promise<number> {
  const journalDir = join(stateDir, "journal");
  let count = await countKept(journalDir);
  for (const name of journalFileNames) {
    for (const path of await pathsNotedIn(join(journalDir, name))) {
      const found = await lstat(join(stateDir, "companies", path)).catch(unlessMissing);
      if (found === undefined) count += 1;
    }
  }
  return count;
}
