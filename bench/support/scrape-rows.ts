/** Rows of years of what the metrics are about, besides the ledger. The daemon must not run. */
import { join } from "node:path";
import { openSqlite } from "../../src/store/database/sqlite-dialect.ts";

/** Numbers 0 to `?` - 1, as a table `n(i)`. */
const numbers = "with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)";

/** So many rows of each kind, spread over all companies, targets and exports that there are. */
export function addHistory(stateDir: string, rows: number): void {
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  const now = Date.now();
  const inTurn = (table: string) => `join ${table} as one on one.id = 1 + i % (select max(id) from ${table})`;
  // Nobody needs to roll this back.
  database.pragma("synchronous = OFF");
  database.exec("begin immediate");
  database
    .prepare(
      `${numbers} insert into imports (guid, company_id, service_name, user_name, received_at, finished_at)
       select 'bench-' || i, one.id, 'default', 'bench', ?, ? from n ${inTurn("companies")}`,
    )
    .run(rows, now, now);
  database
    .prepare(
      `insert into import_items (import_id, position, load_nbr, state, reasons, decided_at)
       select id, 0, 'L' || id, 'applied', '[]', finished_at from imports`,
    )
    .run();
  database
    .prepare(
      `${numbers} insert into deliveries (guid, company_id, target_id, kind, subject_id, order_key, line_nbr, name, state,
       due_at, attempts, first_attempt_at, last_attempt_at, delivered_at, size, sha256, created_at)
       select 'bench-' || i, one.company_id, one.id, 'completion', i, 'S' || i, 0, 'S' || i || '.xml', 'delivered', ?, 1, ?, ?, ?,
       4000, 'x', ? from n ${inTurn("outbound_targets")}`,
    )
    .run(rows, now, now, now, now, now);
  database
    .prepare(
      `${numbers} insert into exports (company_id, name, sequence_nbr, after_completion_id, last_completion_id, form, due_at,
       created_at) select s.company_id, s.name, 1 + i, 0, 0, 'document', ?, ?
       from n join export_schedules as s on true where i < ? / (select count(*) from export_schedules)`,
    )
    .run(rows, now, now, rows);
  database.exec("commit");
  database.close();
}
