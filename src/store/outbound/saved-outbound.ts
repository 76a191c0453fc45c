/** Whether the copy of the configuration that is stored says the same as the configuration, asked for all companies at once. */
import type { Transaction } from "../database/group-commit.ts";
import type { OutboundCopy } from "./outbound-targets.ts";

/** What is stored of one company. */
interface Saved {
  readonly targets: (readonly [name: string, takesCompletions: number, pausedUntil: number])[];
  readonly events: (readonly [causes: string, code: number])[];
  embedsDocuments: number | undefined;
  plan: string | null;
}

const newSaved = (): Saved => ({ targets: [], events: [], embedsDocuments: undefined, plan: null });

function textOf({ targets, events, embedsDocuments, plan }: Saved): string {
  const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).toSorted();
  return JSON.stringify([sorted(targets), sorted(events), embedsDocuments, plan]);
}

function wantedOf({ targets, events, embedsDocuments, messages }: OutboundCopy): Saved {
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

async function readSaved(tx: Transaction): Promise<ReadonlyMap<number, Saved>> {
  const companies = new Map<number, Saved>();
  const of = (companyId: number): Saved => {
    const known = companies.get(companyId) ?? newSaved();
    companies.set(companyId, known);
    return known;
  };
  for (const row of await tx
    .selectFrom("outbound_targets")
    .select(["company_id", "name", "takes_completions", "paused_until"])
    .where("is_configured", "=", 1)
    .execute())
    of(row.company_id).targets.push([row.name, row.takes_completions, row.paused_until]);
  for (const row of await tx.selectFrom("outbound_events").selectAll().execute())
    of(row.company_id).events.push([row.causes, row.event_code]);
  for (const row of await tx.selectFrom("outbound_settings").selectAll().execute())
    of(row.company_id).embedsDocuments = row.embeds_documents;
  for (const row of await tx.selectFrom("message_plans").selectAll().execute())
    of(row.company_id).plan = row.plan;
  return companies;
}

/** Those of the copies that the store does not have as they are. */
export async function changedOutboundCopies(
  tx: Transaction,
  copies: readonly OutboundCopy[],
): Promise<readonly OutboundCopy[]> {
  const saved = await readSaved(tx);
  return copies.filter((copy) => textOf(wantedOf(copy)) !== textOf(saved.get(copy.companyId) ?? newSaved()));
}
