/** Stores full of loads under way, each with one stop that is on its way to its drop-off. The daemon must not run. */
import { join } from "node:path";
import { routedStopOf } from "../../src/domain/execution/routed-stop.ts";
import { openSqlite } from "../../src/store/database/sqlite-dialect.ts";
import { jsonLoadHeader, jsonStop, numberMark, partsOf, products } from "../sample-json.ts";
import { numberText } from "./load-job.ts";
import { companyCode } from "./sites.ts";

/** Adds the loads `R0000000` and on, with the stops `T0000000` and on, in a store that has no loads. */
export function addRoutes(stateDir: string, count: number): void {
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  // Nobody needs to roll this back, and a log of gigabytes would take as long as the rows.
  database.pragma("journal_mode = OFF");
  database.pragma("synchronous = OFF");
  const loadRow = database.prepare(
    `insert into loads (id, company_id, load_nbr, load_status, driver, body, execution, extra, created_at, updated_at)
     values (?, ?, ?, 40, ?, ?, ?, '{"load":{}}', 0, 0)`,
  );
  const stopRow = database.prepare(
    `insert into stops (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, body, routed, execution, load_id,
     load_position, created_at, updated_at) values (?, ?, ?, '38', '00', ?, ?, '{}', ?, 0, 0, 0)`,
  );
  const company = database.prepare("select id from companies where code = ?").get(companyCode) as {
    id: number;
  };
  const stop = jsonStop(numberMark, products.small);
  const [headers, stops] = [partsOf(jsonLoadHeader(numberMark)), partsOf(stop)];
  const routed = JSON.stringify(routedStopOf(stop));
  const driver = JSON.stringify({ driverName: "Ann Hill", driverUserName: "ann" });
  const execution = JSON.stringify({
    ...{ actualStartDTTM: "2026-11-05T08:00:00", actualStartTimeZone: "America/New_York" },
    originDepartureDTTM: "2026-11-05T08:10:00",
  });
  database.exec("begin immediate");
  for (let index = 0; index < count; index += 1) {
    const [loadNbr, stopNbr] = [`R${numberText(index)}`, `T${numberText(index)}`];
    loadRow.run(index + 1, company.id, loadNbr, driver, headers.join(loadNbr), execution);
    stopRow.run(company.id, stopNbr, stopNbr.toLowerCase(), stops.join(stopNbr), routed, index + 1);
  }
  database.exec("commit");
  database.pragma("journal_mode = WAL");
  database.close();
}
