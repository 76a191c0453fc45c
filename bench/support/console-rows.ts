/** A ledger of years for the console: files by day, some of them refused or duplicates, stops and deliveries. The daemon must not run. */
import { join } from "node:path";
import { dayMs } from "../../src/lib/durations.ts";
import { openSqlite } from "../../src/store/database/sqlite-dialect.ts";
import { withoutIndexes } from "../../test/support/without-indexes.ts";

/** Files of one day. */
export const filesPerDay = 27_000;
/** One of so many was refused, and one was a duplicate. */
const refusedOf = 20;
const duplicateOf = 100;
const deliveriesOf = 10;

/** Numbers 0 to `:rows` - 1, as a table `n(i)`. */
const numbers = "with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < :rows)";

/** The number of the stop of the nth file, and its name. */
export const stopOfConsole = (nth: number) => `K${String(nth).padStart(8, "0")}`;
export const nameOfConsole = (nth: number) => `${stopOfConsole(nth)}_20250101_080000.xml`;

const fault = JSON.stringify([
  {
    code: "xsdMismatch",
    message: "Element 'ShipToCty' is not expected here: write ShipToCity.",
    line: 6,
    path: "/Stop",
  },
]);

const state = `case when i % ${refusedOf} = 1 then 'refused' when i % ${duplicateOf} = 2 then 'duplicate' else 'applied' end`;

/** Files of which the newest came just now. */
const files = `${numbers}
  insert into files (company_id, name, name_time, sha256, size, channel, user_name, received_at, state, stop_function, stop_nbr,
    document_id, reasons, records_created, records_updated, records_deleted, decided_at, source, location, is_filed)
  select 1, printf('K%08d_20250101_080000.xml', i), 20250101080000, lower(hex(randomblob(32))), 4000,
    case i % 3 when 0 then 'ftp' else 'sftp' end, 'host' || (i % 7),
    :now - cast((:rows - i) * ${dayMs / filesPerDay} as integer), ${state}, '01', printf('K%08d', i), 'D' || i,
    case when i % ${refusedOf} = 1 then :fault else '[]' end, 1, 0, 0,
    :now - cast((:rows - i) * ${dayMs / filesPerDay} as integer) + 40,
    printf('companies/ACME/inbound/K%08d.xml', i), printf('companies/ACME/archive/2025-01-01/K%08d.xml', i), 1
  from n`;

const counts = `insert into daily_files (company_id, day, state, channel, files)
  select company_id, received_at / ${dayMs}, state, channel, 1 from files where state in ('applied', 'refused', 'duplicate')
  on conflict (company_id, day, state, channel) do update set files = files + 1`;

const faults = `insert into file_faults (company_id, code, received_at, file_id)
  select company_id, 'xsdMismatch', received_at, id from files where state = 'refused'`;

const stops = `${numbers} insert into stops (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, shipment_nbr, body,
    execution, created_at, updated_at)
  select 1, printf('K%08d', i), printf('k%08d', i), '10', '00', 'S' || i, json_object('stopNbr', printf('K%08d', i)), '{}',
    :now, :now from n`;

const deliveries = `${numbers}
  insert into deliveries (guid, company_id, target_id, kind, subject_id, order_key, line_nbr, name, state, due_at, attempts,
    first_attempt_at, last_attempt_at, delivered_at, size, sha256, created_at)
  select lower(printf('%08x-0000-4000-8000-%012x', i, i)), t.company_id, t.id, 'completion', i,
    printf('K%08d', i), 0, printf('K%08d_done.xml', i), 'delivered', :now, 1, :now, :now, :now, 4000, 'x',
    :now - cast((:rows - i) * 30000 as integer)
  from n join outbound_targets t on t.id = (select min(id) from outbound_targets)`;

/** So many entries of the ledger, and a tenth as many stops and deliveries. */
export function addConsoleRows(stateDir: string, rows: number): void {
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  const now = Date.now();
  // Nobody needs to roll this back.
  database.pragma("journal_mode = OFF");
  database.pragma("synchronous = OFF");
  database.pragma("cache_size = -500000");
  database.exec("begin");
  withoutIndexes(database, ["files", "stops", "deliveries"], () => {
    database.prepare(files).run({ rows, now, fault });
    database.prepare(stops).run({ rows: rows / deliveriesOf, now });
    database.prepare(deliveries).run({ rows: rows / deliveriesOf, now });
  });
  database.exec(counts);
  database.exec(faults);
  database.exec("commit");
  database.pragma("journal_mode = WAL");
  database.close();
}
