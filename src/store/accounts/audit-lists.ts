/** Lists of the audit: for the page that shows it, and for what has become of a subject. */
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Reader } from "../database/database.ts";
import { named } from "../database/named-rows.ts";
import type { Tables } from "../database/schema.ts";
import type { AuditEntry } from "./audit.ts";

/** What people ask for; together as far as it is given. */
export interface AuditSelection {
  /** Entries of these companies; `null` among them stands for those of no company. */
  readonly companyIds: readonly (number | null)[];
  /** Of one of these kinds. */
  readonly kinds?: readonly string[];
  readonly subject?: string;
  readonly userName?: string;
  /** At this time or later, and before that one, milliseconds UTC. */
  readonly since?: number;
  readonly until?: number;
}

function isOfCompanies(
  eb: ExpressionBuilder<Tables, "audit">,
  companyIds: AuditSelection["companyIds"],
): Expression<SqlBool> {
  const ids = companyIds.filter((id) => id !== null);
  return eb.or([
    ...(ids.length === 0 ? [] : [eb("company_id", "in", ids)]),
    ...(companyIds.includes(null) ? [eb("company_id", "is", null)] : []),
  ]);
}

/** The entries of the selection, the newest first; those before one when it is given. */
export async function listAudit(
  read: Reader,
  selection: AuditSelection & { readonly beforeId?: number; readonly limit: number },
): Promise<readonly AuditEntry[]> {
  const { companyIds, kinds, subject, userName, since, until, beforeId, limit } = selection;
  const rows = await read
    .selectFrom("audit")
    .selectAll()
    .where((eb) =>
      eb.and([
        isOfCompanies(eb, companyIds),
        ...(kinds === undefined ? [] : [eb("kind", "in", kinds)]),
        ...(subject === undefined ? [] : [eb("subject", "=", subject)]),
        ...(userName === undefined ? [] : [eb("user_name", "=", userName)]),
        ...(since === undefined ? [] : [eb("at", ">=", since)]),
        ...(until === undefined ? [] : [eb("at", "<", until)]),
        ...(beforeId === undefined ? [] : [eb("id", "<", beforeId)]),
      ]),
    )
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(named);
}
