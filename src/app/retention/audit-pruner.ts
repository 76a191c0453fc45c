/** What was asked for again or given up, and by whom. */
import { setImmediate } from "node:timers/promises";
import {
  type AuditRow,
  type AuditTable,
  auditTables,
  listAudit,
  removeAudit,
} from "../../store/ledger/audit-retention.ts";
import type { DueCompany, Progress, PruneDeps, Pruner } from "./pruner.ts";

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
  { due, progress }: { readonly due: readonly DueCompany[]; readonly progress: Progress },
  visit: (table: AuditTable, old: OldRows) => Promise<void>,
): Promise<void> {
  const { signal, tally } = progress;
  const before = Math.max(...due.map((company) => company.before));
  for (const table of auditTables) {
    let after: Pick<AuditRow, "askedAt" | "id"> | undefined = { askedAt: 0, id: 0 };
    while (after !== undefined) {
      signal.throwIfAborted();
      const page = { before, after, limit: rowsAtOnce };
      const rows: readonly AuditRow[] = await listAudit(store.read, table, page);
      for (const old of byCompany(rows, due)) {
        await visit(table, old);
        for (const { askedAt: at } of old.rows)
          tally.add(old.companyId, { count: 1, bytes: 0, oldestAt: at, newestAt: at });
      }
      after = rows.length < rowsAtOnce ? undefined : rows.at(-1);
      await setImmediate();
    }
  }
}

export const auditPruner: Pruner = {
  kind: "audit",
  wouldGo: (deps, due, progress) => eachOld(deps, { due, progress }, async () => undefined),
  prune: (deps, due, progress) =>
    eachOld(deps, { due, progress }, (table, { companyId, rows }) =>
      deps.store.write(companyId, (tx) =>
        removeAudit(
          tx,
          table,
          rows.map(({ id }) => id),
        ),
      ),
    ),
};
