/**
 * Copies the whole state of a database to one of the other kind: all tables, row by row, the ids that are given next, and the
 * instance, so that the state directory stays the same. Nothing is a state before all of it was read again and compared.
 *
 *   source locked and read as of one moment ──> target made, rows written, indexes made ──> target read, compared ──> complete
 *
 * What fails at any moment, a kill of the process too, leaves the source unchanged, and a target that says that it is not
 * complete; see `copy-to-sqlite.ts` and `postgres/copy-to-postgres.ts`.
 */
import { join } from "node:path";
import { killPoint } from "../../../lib/kill-point.ts";
import { OperatorError } from "../../../lib/operator-error.ts";
import { findState, markerFileName, readMarker, stateFault } from "../database.ts";
import { type ProcessLock, takeProcessLock } from "../process-lock.ts";
import { copiedTables } from "./copied-tables.ts";
import { openSqliteSource } from "./copy-from-sqlite.ts";
import type { CopiedTable, CopySide, CopySource, CopyTarget, Counters } from "./copy-side.ts";
import { openSqliteTarget } from "./copy-to-sqlite.ts";
import { SummedRows, type TableSum } from "./row-text.ts";

export interface StoreCopy {
  /** Of both sides, whose database of SQLite it has. */
  readonly stateDir: string;
  /** The address of the side that is on PostgreSQL. */
  readonly url: string;
  readonly direction: "to postgres" | "to sqlite";
  /** Begins anew where a copy was not finished. */
  readonly isAnew: boolean;
  readonly onProgress?: ((progress: StoreCopyProgress) => void) | undefined;
}

export interface StoreCopyProgress {
  readonly step: "copying" | "comparing";
  readonly table: string;
  readonly rows: number;
}

export interface ComparedTable {
  readonly table: string;
  readonly rows: number;
  /** Of the rows in the order of their keys. */
  readonly sha256: string;
  readonly isSame: boolean;
}

export interface CopiedStore {
  readonly instance: string;
  readonly tables: readonly ComparedTable[];
  /** Whether the next ids are the same on both sides, and how many the ledger has without an entry. */
  readonly areCountersSame: boolean;
  readonly isComplete: boolean;
}

async function openSides({ stateDir, url, direction, isAnew }: StoreCopy) {
  // Loaded only where it is used.
  if (direction === "to postgres") {
    const source = openSqliteSource(stateDir);
    const { openPostgresTarget } = await import("../postgres/copy-to-postgres.ts");
    return { source, target: await orClose(source, () => openPostgresTarget(url, isAnew)) };
  }
  const { openPostgresSource } = await import("../postgres/copy-from-postgres.ts");
  const source = await openPostgresSource(url, readMarker(join(stateDir, markerFileName)) ?? "");
  return { source, target: await orClose(source, () => openSqliteTarget(stateDir, isAnew)) };
}

async function orClose<T>(source: CopySource, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    await source.close();
    throw error;
  }
}

interface Sides {
  readonly source: CopySource;
  readonly target: CopyTarget;
}

async function tablesOf({ source, target }: Sides, direction: StoreCopy["direction"]) {
  const found = [await source.tables(), await target.tables()] as const;
  return direction === "to postgres" ? copiedTables(...found) : copiedTables(found[1], found[0]);
}

/** Passes all rows of a side by, and tells how far it is. */
async function summed(
  side: CopySide,
  table: CopiedTable,
  tell: (rows: number) => void,
  use: (batches: ReturnType<CopySide["rows"]>) => Promise<void>,
): Promise<TableSum> {
  const sum = new SummedRows();
  async function* telling() {
    for await (const batch of sum.passing(side.rows(table))) {
      tell(sum.rows);
      yield batch;
    }
  }
  await use(telling());
  return sum.sum();
}

async function drain(batches: AsyncIterable<unknown>): Promise<void> {
  const each = batches[Symbol.asyncIterator]();
  while ((await each.next()).done !== true);
}

function areSame(one: Counters, other: Counters): boolean {
  const text = ({ lastIds, ledgerGaps }: Counters) => JSON.stringify([[...lastIds].toSorted(), ledgerGaps]);
  return text(one) === text(other);
}

async function copyAll(
  sides: Sides,
  tables: readonly CopiedTable[],
  { onProgress }: StoreCopy,
): Promise<Omit<CopiedStore, "isComplete">> {
  const { source, target } = sides;
  const tell = (step: StoreCopyProgress["step"], table: string) => (rows: number) =>
    onProgress?.({ step, table, rows });
  const sums = new Map<string, TableSum>();
  for (const table of tables) {
    const use = (batches: ReturnType<CopySide["rows"]>) => target.write(table, batches);
    sums.set(table.name, await summed(source, table, tell("copying", table.name), use));
    killPoint("copy.tableWritten");
  }
  const counters = await source.counters();
  await target.settle(counters);
  const compared: ComparedTable[] = [];
  for (const table of tables) {
    const there = await summed(target, table, tell("comparing", table.name), drain);
    const { rows = 0, sha256 = "" } = sums.get(table.name) ?? {};
    const isSame = rows === there.rows && sha256 === there.sha256;
    compared.push({ table: table.name, rows, sha256, isSame });
  }
  const areCountersSame = areSame(counters, await target.counters());
  return { instance: source.instanceId, tables: compared, areCountersSame };
}

async function copyBetween(sides: Sides, copy: StoreCopy): Promise<CopiedStore> {
  const copied = await copyAll(sides, await tablesOf(sides, copy.direction), copy);
  await sides.source.requireUnused();
  const isComplete = copied.areCountersSame && copied.tables.every(({ isSame }) => isSame);
  killPoint("copy.compared");
  if (isComplete) await sides.target.complete();
  return { ...copied, isComplete };
}

function lockState(stateDir: string): ProcessLock {
  try {
    return takeProcessLock(stateDir);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new OperatorError(`${error.message}: stop dropgate, then copy`, { cause: error });
  }
}

/**
 * Copies the database of a state, whose directory it locks. Rejects with an `OperatorError` for a source that is in use or
 * older than this dropgate, and for a target that is not empty.
 */
export async function copyStore(copy: StoreCopy): Promise<CopiedStore> {
  const { stateDir, url, direction } = copy;
  const presence = findState(direction === "to postgres" ? { stateDir } : { stateDir, url });
  if (presence !== "there") throw new OperatorError(stateFault(stateDir, presence));
  const lock = lockState(stateDir);
  try {
    const sides = await openSides(copy);
    try {
      return await copyBetween(sides, copy);
    } finally {
      await sides.target.close();
      await sides.source.close();
    }
  } finally {
    lock.release();
  }
}
