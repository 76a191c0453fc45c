/** What the store has of the configuration of what goes out, for all companies at once. */
import type { Transaction } from "../database/group-commit.ts";

/** What is stored of one company. */
export interface SavedOutbound {
  readonly targets: (readonly [name: string, takesCompletions: number, pausedUntil: number])[];
  readonly events: (readonly [causes: string, code: number])[];
  embedsDocuments: number | undefined;
  plan: string | null;
}

export function nothingSaved(): SavedOutbound {
  return { targets: [], events: [], embedsDocuments: undefined, plan: null };
}

/** By company; those of which nothing is stored are not there. */
export async function readSavedOutbound(tx: Transaction): Promise<ReadonlyMap<number, SavedOutbound>> {
  const companies = new Map<number, SavedOutbound>();
  const of = (companyId: number): SavedOutbound => {
    const known = companies.get(companyId) ?? nothingSaved();
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
