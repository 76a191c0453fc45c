/** Proves that database and files of a backup belong together, by what `ledger verify` proves of a state. */
import { relative } from "node:path";
import { verifyLedger } from "../inbound/recovery/ledger-verify.ts";
import type { LedgerReport } from "../inbound/recovery/ledger-report.ts";
import { type BytesAt, hashBytesAt } from "../inbound/places/hash-bytes.ts";
import { createLocations } from "../inbound/places/locations.ts";
import { systemClock } from "../lib/clock.ts";
import type { Reader } from "../store/database/database.ts";
import type { HashedFile } from "./backup-folder.ts";
import type { LostContent } from "./gather-state.ts";

export interface ProvedState {
  /** The folder of the state, absolute. */
  readonly stateDir: string;
  readonly copy: Reader;
  /** By their paths in the state, as they were hashed a moment ago. */
  readonly files: ReadonlyMap<string, HashedFile>;
}

/** The report of the ledger; each file was hashed before, and is not read again. */
export async function proveLedger({ stateDir, copy, files }: ProvedState): Promise<LedgerReport> {
  const bytesAt = async (path: string, buffer: Buffer): Promise<BytesAt> => {
    const place = relative(stateDir, path);
    // Of a folder outside of the state.
    if (place.startsWith("..")) return await hashBytesAt(path, buffer);
    const file = files.get(place);
    return file === undefined ? { kind: "absent" } : { kind: "file", ...file, inode: place };
  };
  return await verifyLedger({
    // Nobody writes to a copy.
    ...{
      store: { read: copy, asOfNow: (work) => work(copy) },
      locations: createLocations(stateDir),
      clock: systemClock,
      bytesAt,
    },
    ...{ arrivalGraceMs: 0, pauseMs: 0, isStopped: true },
  });
}

const maxTold = 20;

/** The first of the texts, and how many more there are. */
function firstOf(texts: readonly string[], count = texts.length): readonly string[] {
  const told = texts.slice(0, maxTold);
  const more = count - told.length;
  return more > 0 ? [...told, `and ${more} more`] : told;
}

/** What the ledger and the files disagree about, in words. */
export function discrepancyTexts({ discrepancies, discrepancyCount }: LedgerReport): readonly string[] {
  const texts = discrepancies.slice(0, maxTold).map(({ location, message }) => `${location}: ${message}`);
  return firstOf(texts, discrepancyCount);
}

/** Which documents have no content, in words. */
export function lostTexts(lost: readonly LostContent[]): readonly string[] {
  return firstOf(lost.map(({ path }) => `${path}: a document has no content`));
}
