/** The audit of the companies that who asks administers; for operators of all, and of what belongs to none. */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  AuditAsked,
  AuditFound,
  ShownAudit,
} from "../../../endpoints/http/console/pages/audit/audit-view.ts";
import { given } from "../../../lib/given.ts";
import type { AuditEntry } from "../../../store/accounts/audit.ts";
import { listAudit } from "../../../store/accounts/audit-lists.ts";
import { listCompanies } from "../../../store/accounts/companies.ts";
import type { QueryContext } from "../query-context.ts";

function shownEntry(codes: ReadonlyMap<number, string>) {
  return ({ companyId, before, after, userId: _userId, ...entry }: AuditEntry): ShownAudit => ({
    ...entry,
    companyCode: companyId === null ? undefined : codes.get(companyId),
    before: before === null ? undefined : JSON.parse(before),
    after: after === null ? undefined : JSON.parse(after),
  });
}

export async function queryAudit(
  { read }: QueryContext,
  { companies, isOperator }: Scope,
  { limit, exceptOf = [], ...asked }: AuditAsked,
): Promise<AuditFound> {
  const all = isOperator ? await listCompanies(read) : companies;
  const ids = all.map(({ id }) => id).filter((id) => !exceptOf.includes(id));
  const selection = { companyIds: isOperator ? [...ids, null] : ids, ...given(asked) };
  const rows =
    ids.length === 0 && !isOperator ? [] : await listAudit(read, { ...selection, limit: limit + 1 });
  const shown = rows.slice(0, limit).map(shownEntry(new Map(all.map(({ id, code }) => [id, code]))));
  return { entries: shown, nextBefore: rows.length > limit ? shown.at(-1)?.id : undefined };
}
