/**
 * A dry run of an import: what would be said about it, and which stops it would change. It is the very import, in a unit of
 * work that is then undone, with the content of documents in a folder that is removed again.
 */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isFields } from "../../../domain/fields/fields-of-json.ts";
import { type ImportKindName, importKinds } from "../../../domain/fields/import-kind.ts";
import { systemClock } from "../../../lib/clock.ts";
import { DropgateError, type Fault } from "../../../lib/errors.ts";
import { rm } from "../../../lib/files/changes.ts";
import { importLoads } from "../../../operations/imports/import-loads.ts";
import { importOrders } from "../../../operations/imports/import-orders.ts";
import type { ImportRules } from "../../../operations/imports/import-request.ts";
import { importAsns, importStops } from "../../../operations/imports/import-stops.ts";
import type { ServiceImport } from "../../../operations/imports/service-import.ts";
import type { Store } from "../../../store/database/database.ts";
import type { Transaction } from "../../../store/database/group-commit.ts";
import { dryRun } from "../admin-store.ts";
import { changesOf, type StopChangeView, stopsOf } from "../stops/stop-change.ts";

/** Ends a trial without a store at the point where it would write. */
class NothingToWriteTo extends Error {}

type WritingStore = Pick<Store, "write">;

export interface ImportTrial {
  readonly importKind: ImportKindName;
  readonly input: ServiceImport;
  /** Most loads of one import. */
  readonly maxLoads: number;
  /** Without it only the form is checked. */
  readonly store: WritingStore | undefined;
}

export interface TriedImport {
  /** None when it would be accepted. */
  readonly faults: readonly Fault[];
  /** Of an import of stops; loads are applied later, in the background. */
  readonly changes: readonly StopChangeView[];
}

/** By the list that the document has. Stops and ASNs have the same one; stops are meant when nothing else is said. */
export function importKindOf(document: unknown): ImportKindName | undefined {
  if (!isFields(document)) return undefined;
  return importKinds.find((kind) => kind in document);
}

function stopNumbersIn({ importKind, input }: ImportTrial): readonly string[] {
  const list = isFields(input.body) && importKind !== "loads" ? input.body["stops"] : undefined;
  if (!Array.isArray(list)) return [];
  const numbers = list.map((stop: unknown) => (isFields(stop) ? stop["stopNbr"] : undefined));
  return [...new Set(numbers.filter((number) => typeof number === "string"))];
}

/** A store whose writes are undone, and which notes what they would have changed. */
function undoing(trial: ImportTrial, note: (changes: readonly StopChangeView[]) => void): WritingStore {
  const { store, input } = trial;
  const numbers = stopNumbersIn(trial);
  async function observed<T>(tx: Transaction, work: (tx: Transaction) => Promise<T>) {
    const before = await stopsOf(tx, input.companyId, numbers);
    const result = await work(tx);
    return { result, changes: changesOf(before, await stopsOf(tx, input.companyId, numbers)) };
  }
  return {
    async write(whose, work) {
      if (store === undefined) throw new NothingToWriteTo();
      const { result, changes } = await dryRun(store, whose, (tx) => observed(tx, work));
      note(changes);
      return result;
    },
  };
}

async function runImport(trial: ImportTrial, store: WritingStore, documentsDir: string): Promise<void> {
  const { importKind, input, maxLoads } = trial;
  const deps = { store, clock: systemClock, documentsDir };
  if (importKind === "stops") return await importStops(deps, input);
  if (importKind === "asn") return await importAsns(deps, input);
  if (importKind === "orders") return await importOrders(deps, input);
  const { unknownFields = "keep", maxEntries = 5_000 } = input.rules ?? {};
  const rules: ImportRules = { unknownFields, maxEntries: maxLoads };
  await importLoads(deps, { ...input, rules, maxStops: maxEntries, userName: "test" });
}

/** Tries the import against the state of this moment. Changes nothing. */
export async function tryImport(trial: ImportTrial): Promise<TriedImport> {
  const documentsDir = await mkdtemp(join(tmpdir(), "dropgate-import-"));
  let changes: readonly StopChangeView[] = [];
  const store = undoing(trial, (seen) => {
    changes = seen;
  });
  try {
    await runImport(trial, store, documentsDir);
    return { faults: [], changes };
  } catch (thrown) {
    if (thrown instanceof NothingToWriteTo) return { faults: [], changes: [] };
    if (!(thrown instanceof DropgateError)) throw thrown;
    return { faults: thrown.faults, changes: [] };
  } finally {
    await rm(documentsDir, { recursive: true, force: true });
  }
}
