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
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import { dryRun } from "../admin-store.ts";
import { applyLastImport, type EntityChangeView, orderChanges, ordersOf } from "./entity-change.ts";
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
  /** Of the stops that it names. Loads are applied later, in the background: what would come of them then. */
  readonly changes: readonly StopChangeView[];
  /** Of its loads or orders. */
  readonly entities: readonly EntityChangeView[];
  /** Loads of which is not told what would come of them: there are too many. */
  readonly untried: number;
}

type Changes = Omit<TriedImport, "faults">;

const noChanges: Changes = { changes: [], entities: [], untried: 0 };

/** By the list that the document has. Stops and ASNs have the same one; stops are meant when nothing else is said. */
export function importKindOf(document: unknown): ImportKindName | undefined {
  if (!isFields(document)) return undefined;
  return importKinds.find((kind) => kind in document);
}

/** The numbers that the entries of a list name, each once; those of a large body are not known here. */
function numbersIn({ input }: ImportTrial, list: "stops" | "orders", field: string): readonly string[] {
  const entries = isFields(input.body) ? input.body[list] : undefined;
  if (!Array.isArray(entries)) return [];
  const numbers = entries.map((entry: unknown) => (isFields(entry) ? entry[field] : undefined));
  return [...new Set(numbers.filter((number) => typeof number === "string"))];
}

/** Runs the work, and says what it has changed in stops, and in orders, which own the stops of their numbers. */
async function observed<T>(tx: Transaction, trial: ImportTrial, work: (tx: Transaction) => Promise<T>) {
  const { importKind, input } = trial;
  const { companyId } = input;
  const isOfOrders = importKind === "orders";
  const orderNumbers = isOfOrders ? numbersIn(trial, "orders", "orderNbr") : [];
  const numbers = isOfOrders ? orderNumbers : numbersIn(trial, "stops", "stopNbr");
  const orders = await ordersOf(tx, companyId, orderNumbers);
  const before = await stopsOf(tx, companyId, numbers);
  const result = await work(tx);
  const changes: Changes = {
    changes: changesOf(before, await stopsOf(tx, companyId, numbers)),
    entities: orderChanges(orders, await ordersOf(tx, companyId, orderNumbers)),
    untried: 0,
  };
  return { result, changes };
}

/** Enters the loads, and applies them as the background would. */
async function observedLoads<T>(tx: Transaction, trial: ImportTrial, work: (tx: Transaction) => Promise<T>) {
  const { companyId, body } = trial.input;
  const result = await work(tx);
  const list = isFields(body) ? body["loads"] : undefined;
  const count = Array.isArray(list) ? list.length : 0;
  const applied = await applyLastImport(tx, { companyId, now: systemClock.now(), count });
  const { loads: entities, stops, untried } = applied;
  return { result, changes: { changes: stops, entities, untried } };
}

/** A store whose writes are undone, and which notes what they would have changed. */
function undoing(trial: ImportTrial, note: (changes: Changes) => void): WritingStore {
  const observe = trial.importKind === "loads" ? observedLoads : observed;
  return {
    async write(whose, work) {
      if (trial.store === undefined) throw new NothingToWriteTo();
      const { result, changes } = await dryRun(trial.store, whose, (tx) => observe(tx, trial, work));
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
  let changes = noChanges;
  const store = undoing(trial, (seen) => {
    changes = seen;
  });
  try {
    await runImport(trial, store, documentsDir);
    return { faults: [], ...changes };
  } catch (thrown) {
    if (thrown instanceof NothingToWriteTo) return { faults: [], ...noChanges };
    if (!(thrown instanceof DropgateError)) throw thrown;
    return { faults: thrown.faults, ...noChanges };
  } finally {
    await rm(documentsDir, { recursive: true, force: true });
  }
}
