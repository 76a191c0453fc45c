/** Starts what removes, round after round, what is not needed any more. */
import type { FolderExchange } from "../../exchange/file-exchange.ts";
import { sweepDocuments } from "../../operations/imports/sweep-documents.ts";
import { pruneAlerts } from "../alerts/prune-alerts.ts";
import { endHolds } from "../watch/end-holds.ts";
import { startHousekeeping } from "../watch/housekeeping.ts";
import type { Parts } from "./daemon-parts.ts";

/** It is stopped with the stack. */
export function startTidying(parts: Parts, exchange: FolderExchange): void {
  const { documentsDirectory: documentsDir } = parts.locations;
  const housekeeping = startHousekeeping({
    exchange,
    store: parts.store,
    sweepDocuments: (now, stopping) => sweepDocuments({ store: parts.store, documentsDir, now }, stopping),
    endHolds: (stopping) => endHolds(parts, stopping),
    retention: parts.retention,
    pruneAlerts: (now, stopping) =>
      pruneAlerts({ store: parts.store, config: () => parts.config }, now, stopping),
    log: parts.log,
    config: () => parts.config,
  });
  parts.stack.push({ name: "housekeeping", release: () => housekeeping.stop() });
}
