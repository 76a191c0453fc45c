/** Imports stops and ASNs, all or nothing (specification/stop-states.md#imports-of-a-stop). */
import { hasContent } from "../../domain/documents/document-content.ts";
import { normaliseStop } from "../../domain/stop/normalise-stop.ts";
import { asnImportRules } from "../../domain/stop/stop-actions.ts";
import { stopChangeOf } from "../../domain/stop/stop-change.ts";
import { type StopImportRules as StateRules, importRules } from "../../domain/stop/stop-status.ts";
import { Stop, validateStop } from "../../domain/stop/stop.ts";
import { applyStopChanges, type StopChanges } from "../stops/apply-stop-changes.ts";
import { stopUnitKeys } from "../stops/stop-unit-keys.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { apart } from "../../store/database/groups/side-by-side.ts";
import { type Prepare, preparedEntries } from "./import-preparation.ts";
import { type ImportKind, readImport } from "./import-request.ts";
import { refusal } from "../request-body.ts";
import { importThroughService, type ServiceImport, type ServiceImportDeps } from "./service-import.ts";
import { eachWithoutContent } from "./take-out-documents.ts";

const stopImport: ImportKind<Stop> = {
  list: "stops",
  schema: Stop,
  normalise: normaliseStop,
  validate: validateStop,
};

/** Up to so many stops without documents need no waits between. */
const shortList = 50;

/** The changes that an import of stops or ASNs asks for. */
export const prepareStops: Prepare<"stops"> = async (input) => {
  const stops = await readImport(stopImport, input);
  if (stops.length <= shortList && !stops.some(hasContent))
    return stops.map((stop) => stopChangeOf("01", stop));
  return await eachWithoutContent(input, { list: "stops", entries: stops }, (stop, documents) =>
    stopChangeOf("01", stop, documents),
  );
};

async function write(
  deps: ServiceImportDeps,
  change: Pick<StopChanges, "companyId" | "changes" | "rules">,
): Promise<void> {
  const work = (tx: Transaction) =>
    applyStopChanges(tx, {
      ...change,
      fileTime: null,
      refuseLate: false,
      now: deps.clock.now(),
      pathOf: (index) => `stops[${index}]`,
    });
  const keys = () => stopUnitKeys(Array.from(change.changes, ({ stopNbr }) => stopNbr));
  const outcome = await deps.store.write(change.companyId, apart(keys, work));
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
