/**
 * A journal of uploads that an earlier version really wrote, frozen in `test/fixtures/upload-journal`: four uploads of
 * ACME's user `host` in two journal files, and one that a start had kept because it could not place it.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";

const frozen = resolve(import.meta.dirname, "../fixtures/upload-journal");

/** Stop numbers of the uploads in the order of their closes; the first one is the kept one. */
export const journaledStops = ["2005", "2001", "2002", "2003", "2004"] as const;

/** No file system has files of these numbers: what a test knows by its inode, it says so. */
export const journaledInodes: Readonly<Record<string, number>> = {
  "2001": 281_474_978_931_029,
  "2002": 281_474_978_931_030,
  "2003": 281_474_978_931_031,
  "2004": 281_474_978_931_033,
};

export function journaledName(stop: string): string {
  return `${stop}_20261105_080000.xml`;
}

/** The bytes of an upload in the journal. */
export function journaledContent(stop: string): string {
  return readFileSync(join(frozen, "stop.xml"), "utf8").replaceAll("2001", stop);
}

/** Puts the journal into a state directory. */
export function plantFormerJournal(stateDir: string): void {
  const folder = join(stateDir, "journal");
  mkdirSync(folder, { recursive: true });
  cpSync(join(frozen, "kept"), join(folder, "kept"), { recursive: true });
  for (const name of ["uploads-1.journal", "uploads-2.journal"])
    writeFileSync(join(folder, name), gunzipSync(readFileSync(join(frozen, `${name}.gz`))));
}
