/** Stores full of loads and stops that would take long to import. The daemon must not run. */
import { join } from "node:path";
import { openSqlite } from "../../src/store/database/sqlite-dialect.ts";
import { jsonLoadHeader, jsonStop, numberMark, partsOf, products, stopsOnLoad } from "../sample-json.ts";
import { numberText } from "./load-job.ts";
import { companyCode } from "./sites.ts";

function filledStopNbr(index: number): string {
  return `S${numberText(index)}`;
}

function filledLoadNbr(index: number): string {
  return `L${numberText(index)}`;
}

type Database = ReturnType<typeof openSqlite>;

function insertAll(database: Database, companyId: number, loads: number): void {
  const loadRow = database.prepare(
    `insert into loads (id, company_id, load_nbr, load_status, driver, reference, body, execution, extra,
     created_at, updated_at) values (?, ?, ?, 10, '{}', ?, ?, '{}', '{"load":{}}', 0, 0)`,
  );
  const stopRow = database.prepare(
    `insert into stops (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, shipment_nbr, body, execution,
     load_id, load_position, created_at, updated_at) values (?, ?, ?, '20', '00', ?, ?, '{}', ?, ?, 0, 0)`,
  );
  // To make each of a million anew would take longer than to insert them.
  const [headerParts, stopParts] = [
    partsOf(jsonLoadHeader(numberMark)),
    partsOf(jsonStop(numberMark, products.large)),
  ];
  for (let load = 0; load < loads; load += 1) {
    const loadNbr = filledLoadNbr(load);
    loadRow.run(load + 1, companyId, loadNbr, `R${loadNbr}`, headerParts.join(loadNbr));
    for (let position = 0; position < stopsOnLoad; position += 1) {
      const stopNbr = filledStopNbr(load * stopsOnLoad + position);
      const body = stopParts.join(stopNbr);
      const key = stopNbr.toLowerCase();
      stopRow.run(companyId, stopNbr, key, `S${stopNbr}`, body, load + 1, position);
    }
  }
}

/** That many loads with ten stops of 4 KB each, in a store that has none. */
export function addLoads(stateDir: string, loads: number): void {
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  const row = database.prepare("select id from companies where code = ?").get(companyCode) as { id: number };
  // Nobody needs to roll this back, and a log of gigabytes would take as long as the rows.
  database.pragma("journal_mode = OFF");
  database.pragma("synchronous = OFF");
  database.exec("begin immediate");
  insertAll(database, row.id, loads);
  database.exec("commit");
  database.pragma("journal_mode = WAL");
  database.close();
}
