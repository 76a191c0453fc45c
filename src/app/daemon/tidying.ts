/** Starts what removes, round after round, what is not needed any more. */
import type { FolderExchange } from "../../exchange/file-exchange.ts";
import { sweepDocuments } from "../../operations/imports/sweep-documents.ts";
import { pruneAlerts } from "../alerts/prune-alerts.ts";
import { endHolds } from "../watch/end-holds.ts";
import { startHousekeeping } from "../watch/housekeeping.ts";
import type { Parts } from "./daemon-parts.ts";
import { ownWorkOf, siteLane } from "./own-work.ts";

/** It is stopped with the stack. */
export function startTidying(parts: Parts, exchange: FolderExchange): void {
  const { documentsDirectory: documentsDir } = parts.locations;
  const { clock, log, retention } = parts;
  const { store, isOurs } = ownWorkOf(parts);
  const config = () => parts.config;
  const housekeeping = startHousekeeping({
    exchange,
    store: parts.store,
    sweepDocuments: (now, stopping) => sweepDocuments({ store, documentsDir, now }, stopping),
    endHolds: (stopping) => endHolds({ store, clock, isOurs }, stopping),
    pruneAlerts: (now, stopping) => pruneAlerts({ store, config, isOurs }, now, stopping),
    ...{ retention, log, config },
    isOurs: () => isOurs(siteLane),
  });
  parts.stack.push({ name: "housekeeping", release: () => housekeeping.stop() });
}
