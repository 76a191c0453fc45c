/**
 * What was asked for again or given up, or done in the console, and by whom. A pass that is cut off goes on there in the next, which comes to the
 * table before that afterwards, so that no table keeps the other from its turn.
 */
import { setImmediate } from "node:timers/promises";
import {
  type AuditRow,
  type AuditTable,
  auditTables,
  listAudit,
  removeAudit,
} from "../../store/ledger/audit-retention.ts";
import { firstMark } from "../../store/ledger/file-retention.ts";
import { fromPlace, type Way } from "./places.ts";
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

/** How the rows of a table are gone through; all companies in one go: a row says only by its file or delivery whose it is. */
interface Walk {
  readonly table: AuditTable;
  readonly due: readonly DueCompany[];
  readonly progress: Progress;
  readonly visit: (old: OldRows) => Promise<void>;
}

/** The old rows behind the place of the way, which goes along. */
async function eachOldOf(
  { store }: Pick<PruneDeps, "store">,
  { table, due, progress, visit }: Walk,
  way: Way,
): Promise<void> {
  const { signal, tally } = progress;
  const before = Math.max(...due.map((company) => company.before));
  for (;;) {
    signal.throwIfAborted();
    const { decidedAt: askedAt, fileId: id } = way.place ?? firstMark;
    const page = { before, after: { askedAt, id }, limit: rowsAtOnce };
    const rows: readonly AuditRow[] = await listAudit(store.read, table, page);
    for (const old of byCompany(rows, due)) {
      await visit(old);
      for (const { askedAt: at } of old.rows)
        tally.add(old.companyId, { count: 1, bytes: 0, oldestAt: at, newestAt: at });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsAtOnce) return;
    way.place = { decidedAt: last.askedAt, fileId: last.id };
    await setImmediate();
  }
}

const placeOf = (table: AuditTable) => `audit ${table}`;

/** First the table in which the pass before was cut off. */
function tablesInTurn(places: PruneDeps["places"]): readonly AuditTable[] {
  const next = Math.max(
    0,
    auditTables.findIndex((table) => places?.has(placeOf(table))),
  );
  return [...auditTables.slice(next), ...auditTables.slice(0, next)];
}

async function pruneTable(deps: PruneDeps, walk: Omit<Walk, "visit">): Promise<void> {
  const { table, progress } = walk;
  const visit = ({ companyId, rows }: OldRows) =>
    deps.store.write(companyId, (tx) =>
      removeAudit(
        tx,
        table,
        rows.map(({ id }) => id),
      ),
    );
  const { signal } = progress;
  await fromPlace(deps.places, { key: placeOf(table), signal }, (way) =>
    eachOldOf(deps, { ...walk, visit }, way),
  );
}

export const auditPruner: Pruner = {
  kind: "audit",
  async wouldGo(deps, due, progress) {
    const visit = async () => undefined;
    for (const table of auditTables)
      await eachOldOf(deps, { table, due, progress, visit }, { place: undefined });
  },
  async prune(deps, due, progress) {
    for (const table of tablesInTurn(deps.places)) await pruneTable(deps, { table, due, progress });
  },
};
