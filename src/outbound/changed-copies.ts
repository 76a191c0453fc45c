/** Whether the copy of the configuration that is stored says the same as the configuration. */
import type { Reader } from "../store/database/database.ts";
import type { Transaction } from "../store/database/groups/group-commit.ts";
import type { OutboundCopy } from "../store/outbound/outbound-targets.ts";
import { nothingSaved, readSavedOutbound, type SavedOutbound } from "../store/outbound/saved-outbound.ts";

function textOf({ targets, events, embedsDocuments, plan }: SavedOutbound): string {
  const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).toSorted();
  return JSON.stringify([sorted(targets), sorted(events), embedsDocuments, plan]);
}

function wantedOf({ targets, events, embedsDocuments, messages }: OutboundCopy): SavedOutbound {
  const codes = Object.keys(messages?.events ?? {}).map(Number);
  return {
    // Those that are paused are to be tried at once: they count as different.
    targets: targets.map(({ name, takesCompletions }) => [name, takesCompletions ? 1 : 0, 0] as const),
    events: [
      ...[...new Set(events)].map((code) => ["completion", code] as const),
      ...codes.map((code) => ["message", code] as const),
    ],
    embedsDocuments: embedsDocuments ? 1 : 0,
    plan: messages === undefined ? null : JSON.stringify(messages),
  };
}

/** Those of the copies that the store does not have as they are. */
export async function changedOutboundCopies(
  db: Reader | Transaction,
  copies: readonly OutboundCopy[],
): Promise<readonly OutboundCopy[]> {
  const [only, ...others] = copies;
  if (only === undefined) return [];
  // Of many, what is stored of all costs less than a query for each.
  const saved = await readSavedOutbound(db, others.length === 0 ? only.companyId : undefined);
  return copies.filter(
    (copy) => textOf(wantedOf(copy)) !== textOf(saved.get(copy.companyId) ?? nothingSaved()),
  );
}
