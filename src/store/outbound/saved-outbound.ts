/** What the store has of the configuration of what goes out, for all companies at once or for one. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";

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

/** Of all companies or one, by company; those of which nothing is stored are not there. */
export async function readSavedOutbound(
  db: Reader | Transaction,
  companyId?: number,
): Promise<ReadonlyMap<number, SavedOutbound>> {
  const companies = new Map<number, SavedOutbound>();
  const of = (companyId: number): SavedOutbound => {
    const known = companies.get(companyId) ?? nothingSaved();
    companies.set(companyId, known);
    return known;
  };
  const isOne = companyId !== undefined;
  const one = companyId ?? 0;
  const targets = db
    .selectFrom("outbound_targets")
    .select(["company_id", "name", "takes_completions", "paused_until"])
    .where("is_configured", "=", 1)
    .$if(isOne, (some) => some.where("company_id", "=", one));
  for (const row of await targets.execute())
    of(row.company_id).targets.push([row.name, row.takes_completions, row.paused_until]);
  const events = db.selectFrom("outbound_events").selectAll();
  for (const row of await events.$if(isOne, (some) => some.where("company_id", "=", one)).execute())
    of(row.company_id).events.push([row.causes, row.event_code]);
  const settings = db.selectFrom("outbound_settings").selectAll();
  for (const row of await settings.$if(isOne, (some) => some.where("company_id", "=", one)).execute())
    of(row.company_id).embedsDocuments = row.embeds_documents;
  const plans = db.selectFrom("message_plans").selectAll();
  for (const row of await plans.$if(isOne, (some) => some.where("company_id", "=", one)).execute())
    of(row.company_id).plan = row.plan;
  return companies;
}
