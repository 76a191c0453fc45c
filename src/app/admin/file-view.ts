/** Ledger entries as commands show them; times are ISO, UTC. */
import { prunedTextOf } from "../../domain/retention/pruned-text.ts";
import { createLocations } from "../../inbound/places/locations.ts";
import { type Fault, reasonCodeOf } from "../../lib/errors.ts";
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import type { LedgerEntry } from "../../store/ledger/files.ts";

export interface FileReason extends Omit<Fault, "code"> {
  readonly reasonCode: number;
}

/** A fault as commands show it. */
export function toReason({ code, ...fault }: Fault): FileReason {
  return { reasonCode: reasonCodeOf(code), ...fault };
}

/** A ledger entry as commands show it; times are ISO, UTC. */
export type FileView = Readonly<ReturnType<typeof toFileView>>;

/** The entry in a list. */
export function toFileView(entry: LedgerEntry, company: string, stateDir: string) {
  return {
    id: entry.id,
    company,
    name: entry.name,
    state: entry.state,
    beganAt: isoOrNull(entry.beganAt),
    receivedAt: isoTime(entry.receivedAt),
    enteredAt: isoOrNull(entry.enteredAt),
    parsedAt: isoOrNull(entry.parsedAt),
    channel: entry.channel,
    user: entry.userName,
    size: entry.size,
    sha256: entry.sha256 === "" ? null : entry.sha256,
    documentId: entry.documentId,
    function: entry.stopFunction,
    stopNbr: entry.stopNbr,
    reasons: entry.faults.map(toReason),
    recordsCreated: entry.created,
    recordsUpdated: entry.updated,
    recordsDeleted: entry.deleted,
    decidedAt: isoOrNull(entry.decidedAt),
    /** Absolute path. */
    location: createLocations(stateDir).fromLedger(entry.location),
    isFiled: entry.isFiled,
    filedAt: isoOrNull(entry.filedAt),
    receiptCollectedAt: isoOrNull(entry.receiptCollectedAt),
    receiptCollectedBy: entry.receiptCollectedBy,
    receiptCollectedOver: entry.receiptCollectedOver,
    isReceiptUnread: entry.receiptUnread === 1,
    duplicateOf: entry.firstId,
    removedAt: isoOrNull(entry.removedAt),
    removedBy: entry.removedBy,
    isPruned: prunedTextOf(entry) !== undefined,
    /** Why its bytes are gone, when that is their age. */
    pruned: prunedTextOf(entry) ?? null,
    prunedTo: entry.prunedTo,
  };
}
