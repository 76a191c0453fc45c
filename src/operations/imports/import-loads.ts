/**
 * Takes an import of loads: checks its form, stores it durably and answers; it is applied in the background
 * (specification/gateway.md#load-imports).
 */
import type { KeptDocument } from "../../domain/documents/document-content.ts";
import { isFields } from "../../domain/fields/fields-of-json.ts";
import { Load, type LoadHeader, validateLoad } from "../../domain/load/load.ts";
import { normaliseLoad } from "../../domain/load/normalise-load.ts";
import type { Stop } from "../../domain/stop/stop.ts";
import type { Fault } from "../../lib/errors.ts";
import { newGuid } from "../../lib/ids.ts";
import { announce } from "../../store/database/announcements.ts";
import { saveDocuments } from "../../store/stops/documents.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { insertImport, insertImportItem, type NewImport } from "../../store/stops/imports.ts";
import {
  type ImportToPrepare,
  inTurns,
  type KeptLoad,
  type Prepare,
  preparedEntries,
} from "./import-preparation.ts";
import { defaultImportRules, type ImportKind, readImport } from "./import-request.ts";
import { loadText } from "./load-text.ts";
import { refusal } from "../request-body.ts";
import { importThroughService, type ServiceImport, type ServiceImportDeps } from "./service-import.ts";
import { type DocumentsDeps, takeOutDocuments } from "./take-out-documents.ts";

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
function checkStops({ body, maxStops = defaultImportRules.maxEntries }: ImportToPrepare): void {
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

/** The content of all documents goes to the document store, the rows with the import: so nothing is stored twice. */
async function keptFormsOf(deps: DocumentsDeps, loads: readonly Load[]): Promise<readonly KeptLoad[]> {
  const faults: Fault[] = [];
  const kept = await inTurns(loads, async (load, index): Promise<KeptLoad> => {
    const documents: KeptDocument[] = [];
    async function taken<T extends LoadHeader | Stop>(entity: T, path: string): Promise<T> {
      const out = await takeOutDocuments(deps, entity, path);
      faults.push(...out.faults);
      documents.push(...out.kept);
      return out.entity;
    }
    const path = `loads[${index}]`;
    const loadHeader = await taken(load.loadHeader, `${path}.loadHeader`);
    const stops = await inTurns(load.stops ?? [], (stop, at) => taken(stop, `${path}.stops[${at}]`));
    return { loadNbr: loadHeader.loadNbr, body: loadText({ ...load, loadHeader, stops }), documents };
  });
  if (faults.length > 0) throw refusal(faults);
  return kept;
}

/** The loads of an import as they wait to be applied. */
export const prepareLoads: Prepare<"loads"> = async (input) => {
  checkStops(input);
  return await keptFormsOf(input, await readImport(loadImport, input));
};

/** Wakes the load importer with its commit. */
async function keep(tx: Transaction, entry: NewImport, loads: readonly KeptLoad[]): Promise<void> {
  const importId = await insertImport(tx, entry);
  for (const [position, { loadNbr, body, documents }] of loads.entries()) {
    await insertImportItem(tx, { importId, position, loadNbr, body });
    await saveDocuments(tx, { companyId: entry.companyId, documents, now: entry.receivedAt });
  }
  announce(tx, "loadImports");
}

interface AcceptedImport {
  readonly importId: string;
}

async function acceptStandard(deps: ServiceImportDeps, input: LoadImport): Promise<AcceptedImport> {
  const { companyId, serviceName, userName } = input;
  const loads = await preparedEntries(deps, input, { kind: "loads", prepare: prepareLoads });
  const guid = newGuid();
  const entry = { guid, companyId, serviceName, userName, receivedAt: deps.clock.now() };
  await deps.store.write(companyId, (tx) => keep(tx, entry, loads));
  return { importId: guid };
}

/** Gives the id for `import/info`; the import survives a crash from then on. Throws 908 or the faults of the body. */
export function importLoads(deps: ServiceImportDeps, input: LoadImport): Promise<AcceptedImport> {
  return importThroughService(deps, input, {
    importKind: "loads",
    run: (standard) => acceptStandard(deps, standard),
  });
}
