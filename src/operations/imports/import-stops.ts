/** Imports stops and ASNs, all or nothing (specification/stop-states.md#imports-of-a-stop). */
import { hasContent } from "../../domain/documents/document-content.ts";
import { normaliseStop } from "../../domain/stop/normalise-stop.ts";
import { asnImportRules } from "../../domain/stop/stop-actions.ts";
import { type StopChange, stopChangeOf } from "../../domain/stop/stop-change.ts";
import { type StopImportRules as StateRules, importRules } from "../../domain/stop/stop-status.ts";
import { Stop, validateStop } from "../../domain/stop/stop.ts";
import type { Fault } from "../../lib/errors.ts";
import { applyStopChanges, type StopChanges } from "../stops/apply-stop-changes.ts";
import { inTurns, type Prepare, preparedEntries } from "./import-preparation.ts";
import { type ImportKind, readImport } from "./import-request.ts";
import { refusal } from "../request-body.ts";
import { importThroughService, type ServiceImport, type ServiceImportDeps } from "./service-import.ts";
import { type DocumentsDeps, takeOutDocuments } from "./take-out-documents.ts";

const stopImport: ImportKind<Stop> = {
  list: "stops",
  schema: Stop,
  normalise: normaliseStop,
  validate: validateStop,
};

/** The changes to stops, with the content of their documents durable in the document store. */
async function changesWithContent(
  deps: DocumentsDeps,
  stops: readonly Stop[],
): Promise<readonly StopChange[]> {
  const faults: Fault[] = [];
  const changes = await inTurns(stops, async (stop, index): Promise<StopChange> => {
    const taken = await takeOutDocuments(deps, stop, `stops[${index}]`);
    faults.push(...taken.faults);
    const documents = taken.kept.length === 0 ? {} : { documents: taken.kept };
    return { ...stopChangeOf("01", taken.entity), ...documents };
  });
  if (faults.length > 0) throw refusal(faults);
  return changes;
}

/** Up to so many stops without documents need no waits between. */
const shortList = 50;

/** The changes that an import of stops or ASNs asks for. */
export const prepareStops: Prepare<"stops"> = async (input) => {
  const stops = await readImport(stopImport, input);
  if (stops.length > shortList || stops.some(hasContent)) return changesWithContent(input, stops);
  return stops.map((stop) => stopChangeOf("01", stop));
};

async function write(
  deps: ServiceImportDeps,
  change: Pick<StopChanges, "companyId" | "changes" | "rules">,
): Promise<void> {
  const outcome = await deps.store.write(change.companyId, (tx) =>
    applyStopChanges(tx, {
      ...change,
      fileTime: null,
      refuseLate: false,
      now: deps.clock.now(),
      pathOf: (index) => `stops[${index}]`,
    }),
  );
  if (outcome.kind !== "applied") throw refusal(outcome.faults);
}

async function importBy(deps: ServiceImportDeps, input: ServiceImport, rules: StateRules): Promise<void> {
  const changes = await preparedEntries(deps, input, { kind: "stops", prepare: prepareStops });
  // Not awaited here: while it waits for the commit, nothing must keep the parsed body in memory.
  return write(deps, { companyId: input.companyId, changes, rules });
}

/** Creates or updates the stops of the request. Throws a `DropgateError` with all faults; then nothing was written. */
export function importStops(deps: ServiceImportDeps, input: ServiceImport): Promise<void> {
  return importThroughService(deps, input, {
    importKind: "stops",
    run: (standard) => importBy(deps, standard, importRules),
  });
}

/** The same for ASNs: stops in the state InboundShipment. */
export function importAsns(deps: ServiceImportDeps, input: ServiceImport): Promise<void> {
  return importThroughService(deps, input, {
    importKind: "asn",
    run: (standard) => importBy(deps, standard, asnImportRules),
  });
}
