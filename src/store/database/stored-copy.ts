/** A copy of a database outside of its state directory: made of one in use, examined, and given to a state of its own. */
import { join } from "node:path";
import { Kysely } from "kysely";
import { databaseFileName, type Reader } from "./database.ts";
import { findSchema, readMeta, schemaFault } from "./migrate.ts";
import type { MetaKey } from "./meta.ts";
import type { Tables } from "./schema.ts";
import { planSchema } from "./schema-plan.ts";
import {
  lookForDamage,
  makeOneFile,
  openForReading,
  openSnapshot,
  openSqlite,
  sqliteDialect,
  toStoreError,
} from "./sqlite-dialect.ts";
import { copyDatabase, type CopyProgress } from "./sqlite-schema.ts";

/** Copies the database of a state directory as it is at this moment, durably, to one file. */
export async function copyStore(stateDir: string, path: string, onProgress: CopyProgress): Promise<void> {
  const source = openSnapshot(join(stateDir, databaseFileName));
  try {
    await copyDatabase(source, path, onProgress);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    source.close();
  }
  makeOneFile(path);
}

export interface StoredCopy {
  readonly instanceId: string | undefined;
  readonly schema: number;
  /** Why no dropgate of this version can use it, with the remedy. */
  readonly schemaFault: string | undefined;
  /** Whether `read` may be used: its tables are those of this version. */
  readonly isCurrent: boolean;
  readonly read: Reader;
  /** What SQLite finds wrong with its tables; reads all of them. */
  damage(): readonly string[];
  close(): void;
}

/** Opens a copy, and changes nothing of it. */
export function openStoredCopy(path: string): StoredCopy {
  const database = openForReading(path);
  try {
    const found = findSchema(database);
    const plan = planSchema(found);
    return {
      instanceId: readMeta(database)?.get("instance"),
      schema: found.number,
      schemaFault: plan.kind === "steps" ? undefined : schemaFault(plan.kind, found),
      isCurrent: plan.kind === "steps" && plan.steps.length === 0,
      read: new Kysely<Tables>({ dialect: sqliteDialect(database) }),
      damage: () => [...lookForDamage(database)].flatMap(({ problems }) => problems),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw toStoreError(error);
  }
}

/** Makes the copy the database of another instance, and notes facts in it, or forgets them (null). Its schema may be any that has them. */
export function makeOwnInstance(
  path: string,
  instanceId: string,
  facts: Readonly<Partial<Record<MetaKey, string | null>>>,
): void {
  const database = openSqlite(path, { isNew: false });
  try {
    const upsert = database.prepare<[string, string]>(
      "insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value",
    );
    const forget = database.prepare<[string]>("delete from meta where key = ?");
    database.transaction(() => {
      upsert.run("instance", instanceId);
      for (const [key, value] of Object.entries(facts)) {
        if (value === null) forget.run(key);
        else upsert.run(key, value);
      }
    })();
  } finally {
    database.close();
  }
}
