/** Enters files in the ledger, however often that must be tried: they are ready only with their ids. */
import { setTimeout as wait } from "node:timers/promises";
import { parseStopFileName } from "../domain/files/stop-file-name.ts";
import { messageOf } from "../lib/errors.ts";
import type { LimitedLog } from "../lib/logs/limited-log.ts";
import type { Store } from "../store/database/database.ts";
import { enterFile, type NewFile } from "../store/ledger/files.ts";
import type { Transaction } from "../store/database/group-commit.ts";
import type { Locations } from "./places/locations.ts";
import { ledgerTimeOf, pathOf, type WaitingFile } from "./lanes/waiting-file.ts";

export interface EnterDependencies {
  readonly store: Pick<Store, "write">;
  readonly locations: Locations;
  readonly failing: LimitedLog;
  readonly isStopped: () => boolean;
}

const pauseMs = 1_000;

async function insert(
  tx: Transaction,
  locations: Locations,
  files: readonly WaitingFile[],
): Promise<number[]> {
  const ids: number[] = [];
  for (const file of files) {
    const row: NewFile = {
      ...file,
      nameTime: ledgerTimeOf(parseStopFileName(file.name)),
      location: locations.toLedger(pathOf(file)),
    };
    ids.push(await enterFile(tx, row));
  }
  return ids;
}

/** Gives each file of the company its id. Rejects only at the end of the process. */
export async function enterSurely(
  deps: EnterDependencies,
  companyId: number,
  files: readonly WaitingFile[],
): Promise<void> {
  for (;;) {
    try {
      const ids = await deps.store.write(companyId, (tx) => insert(tx, deps.locations, files));
      for (const [index, file] of files.entries()) file.id = ids[index] ?? 0;
      return;
    } catch (error) {
      if (deps.isStopped()) throw error;
      const reason = messageOf(error);
      deps.failing.warn(
        { err: error, reason, files: files.length },
        "the ledger cannot be written; retrying",
      );
      await wait(pauseMs);
    }
  }
}
