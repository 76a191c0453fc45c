/** What was asked for again or given up, and by whom. */
import { setImmediate } from "node:timers/promises";
import {
  type AuditRow,
  type AuditTable,
  auditTables,
  listAudit,
  removeAudit,
} from "../../store/ledger/audit-retention.ts";
import { type Amounts, type DueCompany, type PruneDeps, type Pruner, Tally } from "./pruner.ts";

const rowsAtOnce = 200;

interface OldRows {
  readonly companyId: number;
  readonly rows: readonly AuditRow[];
}

/** The old ones of a page by their companies. */
function byCompany(rows: readonly AuditRow[], due: readonly DueCompany[]): readonly OldRows[] {
  return due
    .map(({ id: companyId, before }) => ({
      companyId,
      rows: rows.filter((row) => row.isOver && row.companyId === companyId && row.askedAt < before),
    }))
    .filter((old) => old.rows.length > 0);
}

/** All companies in one go: a row says by its file or delivery only of which one it is. */
async function eachOld(
  { store }: PruneDeps,
  { due, signal }: { readonly due: readonly DueCompany[]; readonly signal: AbortSignal },
  visit: (table: AuditTable, old: OldRows) => Promise<void>,
): Promise<Amounts> {
  const tally = new Tally();
  const before = Math.max(...due.map((company) => company.before));
  for (const table of auditTables) {
    let afterId: number | undefined = 0;
    while (afterId !== undefined) {
      signal.throwIfAborted();
      const rows: readonly AuditRow[] = await listAudit(store.read, table, { afterId, limit: rowsAtOnce });
      for (const old of byCompany(rows, due)) {
        await visit(table, old);
        for (const { askedAt: at } of old.rows)
          tally.add(old.companyId, { count: 1, bytes: 0, oldestAt: at, newestAt: at });
      }
      // What follows a young one is younger.
      const isLast = rows.length < rowsAtOnce || rows.some(({ askedAt }) => askedAt >= before);
      afterId = isLast ? undefined : rows.at(-1)?.id;
      await setImmediate();
    }
  }
  return tally.amounts;
}

export const auditPruner: Pruner = {
  kind: "audit",
  wouldGo: (deps, due, signal) => eachOld(deps, { due, signal }, async () => undefined),
  prune: (deps, due, signal) =>
    eachOld(deps, { due, signal }, (table, { companyId, rows }) =>
      deps.store.write(companyId, (tx) =>
        removeAudit(
          tx,
          table,
          rows.map(({ id }) => id),
        ),
      ),
    ),
};
