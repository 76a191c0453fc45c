/** The audit: who did or looked at what in the console, when, why, and what was there before and after. */
import type { Transaction } from "../database/groups/group-commit.ts";
import type { RowOf } from "../database/named-rows.ts";

export type AuditEntry = RowOf<"audit">;

/** What is left out is null. */
export type NewAuditEntry = Pick<AuditEntry, "at" | "kind"> &
  Partial<Omit<AuditEntry, "id" | "at" | "kind" | "before" | "after">> & {
    /** Become JSON; undefined for none. */
    readonly before?: unknown;
    readonly after?: unknown;
  };

function jsonOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** Adds an entry, in the unit of work that does what it tells. */
export async function insertAudit(tx: Transaction, entry: NewAuditEntry): Promise<void> {
  await tx
    .insertInto("audit")
    .values({
      at: entry.at,
      user_id: entry.userId ?? null,
      user_name: entry.userName ?? null,
      company_id: entry.companyId ?? null,
      kind: entry.kind,
      subject: entry.subject ?? null,
      reason: entry.reason ?? null,
      before: jsonOf(entry.before),
      after: jsonOf(entry.after),
      address: entry.address ?? null,
    })
    .execute();
}
