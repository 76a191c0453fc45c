/** All pruners, in the order of a pass: what refers to something goes before it. */
import { auditPruner } from "./audit-pruner.ts";
import { documentsPruner } from "./document-pruner.ts";
import { eventsPruner } from "./event-pruner.ts";
import { appointmentsPruner, importsPruner, positionsPruner } from "./record-pruners.ts";
import { archivePruner, errorPruner, receiptsPruner } from "./file-pruners.ts";
import { ledgerPruner } from "./ledger-pruner.ts";
import { messagesPruner, outboundPruner } from "./outbound-pruners.ts";
import type { Pruner } from "./pruner.ts";

export const pruners: readonly Pruner[] = [
  outboundPruner,
  messagesPruner,
  eventsPruner,
  documentsPruner,
  positionsPruner,
  importsPruner,
  appointmentsPruner,
  receiptsPruner,
  archivePruner,
  errorPruner,
  ledgerPruner,
  auditPruner,
];
