/** Overwrites pages of a database that nobody has open, as a failing disk does. */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import BetterSqlite from "better-sqlite3";

/** Pages of a table by their kind; the database is checkpointed first. */
function pagesOf(database: BetterSqlite.Database, table: string, kind: "internal" | "leaf"): number[] {
  database.pragma("wal_checkpoint(truncate)");
  return database
    .prepare<[string, string], number>("select pageno from dbstat where name = ? and pagetype = ?")
    .pluck()
    .all(table, kind);
}

/** Which pages of the table go: all its leaves, or those that `picks` says. */
export function damageTable(
  path: string,
  table: string,
  picks: (page: Buffer) => boolean = () => true,
): number {
  const database = new BetterSqlite(path);
  const size = Number(database.pragma("page_size", { simple: true }));
  const leaves = pagesOf(database, table, "leaf");
  database.close();
  return overwrite(path, { size, leaves, picks });
}

function overwrite(
  path: string,
  { size, leaves, picks }: { size: number; leaves: readonly number[]; picks: (page: Buffer) => boolean },
): number {
  const file = openSync(path, "r+");
  let damaged = 0;
  for (const page of leaves) {
    const bytes = Buffer.alloc(size);
    readSync(file, bytes, 0, size, (page - 1) * size);
    if (!picks(bytes)) continue;
    writeSync(file, Buffer.alloc(size, 0xee), 0, size, (page - 1) * size);
    damaged += 1;
  }
  closeSync(file);
  return damaged;
}
