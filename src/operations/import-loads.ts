/** Takes an import of loads: checks its form, keeps it durably and answers; it is applied in the background (decisions 2.2). */
import { setImmediate } from "node:timers/promises";
import type { KeptDocument } from "../domain/kept-document.ts";
import { isFields } from "../domain/fields-of-json.ts";
import { Load, type LoadHeader, validateLoad } from "../domain/load.ts";
import { normaliseLoad } from "../domain/normalise-load.ts";
import type { Stop } from "../domain/stop.ts";
import type { Clock } from "../lib/clock.ts";
import type { Fault } from "../lib/errors.ts";
import { newGuid } from "../lib/ids.ts";
import type { Store } from "../store/database.ts";
import { saveDocuments } from "../store/documents.ts";
import type { Transaction } from "../store/group-commit.ts";
import { insertImport, insertImportItem, type NewImport } from "../store/imports.ts";
import { defaultImportRules, type ImportKind, readImport } from "./import-request.ts";
import { refusal } from "./request-body.ts";
import { importThroughService, type ServiceDeps, type ServiceImport } from "./service-import.ts";
import { takeOutDocuments } from "./take-out-documents.ts";

export interface ImportLoadsDeps extends ServiceDeps {
  readonly store: Pick<Store, "write">;
  readonly clock: Clock;
  /** Where the content of documents is kept. */
  readonly documentsDir: string;
  /** Told when an import has been kept. */
  readonly wake: () => void;
}

export interface LoadImport extends ServiceImport {
  /** Most stops of one import, over all its loads; more are refused (909). */
  readonly maxStops?: number;
  readonly userName: string;
}

function stopsIn(load: unknown): number {
  const stops = isFields(load) ? load["stops"] : undefined;
  return Array.isArray(stops) ? stops.length : 0;
}

/** Throws 909 when there are more stops than one import may have. */
function checkStops({ body, maxStops = defaultImportRules.maxEntries }: LoadImport): void {
  const loads = isFields(body) ? body["loads"] : undefined;
  if (!Array.isArray(loads)) return;
  const counts = loads.map(stopsIn);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= maxStops) return;
  const largest = counts.indexOf(Math.max(...counts));
  const path = `loads[${largest}].stops`;
  const message = `loads have ${total} stops together, more than the limit of ${maxStops} (most of them in ${path}). Send them in several requests.`;
  throw refusal([{ code: "tooLarge", path, message }]);
}

const loadImport: ImportKind<Load> = {
  list: "loads",
  schema: Load,
  normalise: normaliseLoad,
  validate: validateLoad,
  weightOf: (load) => 1 + stopsIn(load),
};

interface ReadyLoads {
  readonly loads: readonly Load[];
  readonly documents: readonly KeptDocument[];
}

/** The content of all documents goes to the document store, the rows with the import: so nothing has to be kept twice. */
async function withoutContents(deps: ImportLoadsDeps, loads: readonly Load[]): Promise<ReadyLoads> {
  const faults: Fault[] = [];
  const documents: KeptDocument[] = [];
  async function taken<T extends LoadHeader | Stop>(entity: T, path: string): Promise<T> {
    const out = await takeOutDocuments(deps, entity, path);
    faults.push(...out.faults);
    documents.push(...out.kept);
    return out.entity;
  }
  const ready: Load[] = [];
  for (const [index, load] of loads.entries()) {
    const path = `loads[${index}]`;
    const loadHeader = await taken(load.loadHeader, `${path}.loadHeader`);
    const stops: Stop[] = [];
    for (const [at, stop] of (load.stops ?? []).entries())
      stops.push(await taken(stop, `${path}.stops[${at}]`));
    ready.push({ ...load, loadHeader, stops });
  }
  if (faults.length > 0) throw refusal(faults);
  return { loads: ready, documents };
}

/** Loads are entered this many at a time, so that other requests get their turn. */
const loadsInTurn = 50;

async function keep(tx: Transaction, entry: NewImport, { loads, documents }: ReadyLoads): Promise<void> {
  const importId = await insertImport(tx, entry);
  for (const [position, load] of loads.entries()) {
    const { loadNbr } = load.loadHeader;
    await insertImportItem(tx, { importId, position, loadNbr, body: JSON.stringify(load) });
    if (position % loadsInTurn === loadsInTurn - 1) await setImmediate();
  }
  await saveDocuments(tx, { companyId: entry.companyId, documents, now: entry.receivedAt });
}

interface AcceptedImport {
  readonly importId: string;
}

async function acceptStandard(deps: ImportLoadsDeps, input: LoadImport): Promise<AcceptedImport> {
  const { companyId, serviceName, userName } = input;
  checkStops(input);
  const reading = await readImport(loadImport, input);
  if (reading.kind === "refused") throw refusal(reading.faults);
  const guid = newGuid();
  const entry = { guid, companyId, serviceName, userName, receivedAt: deps.clock.now() };
  const ready = await withoutContents(deps, reading.entities);
  await deps.store.write((tx) => keep(tx, entry, ready));
  deps.wake();
  return { importId: guid };
}

/** Gives the id for `import/info`; the import survives a crash from then on. Throws 908 or the faults of the body. */
export function importLoads(deps: ImportLoadsDeps, input: LoadImport): Promise<AcceptedImport> {
  return importThroughService(deps, input, {
    importKind: "loads",
    run: (standard) => acceptStandard(deps, standard),
  });
}
