/** Stores with deliveries that wait for the company's own folder. The daemon must not run. */
import { join } from "node:path";
import { completionFileName } from "../../src/domain/outbound/completion-name.ts";
import { completionFormat } from "../../src/domain/outbound/completion-format.ts";
import { openSqlite } from "../../src/store/database/sqlite-dialect.ts";
import { jsonStop, numberMark, partsOf, products } from "../sample-json.ts";
import { numberText } from "./load-job.ts";
import { companyCode } from "./sites.ts";

const confirmedDTTM = "2026-11-05T09:00:00";

const eventData = JSON.stringify({
  ...{ eventDTTM: confirmedDTTM, eventTz: "America/New_York", latitude: 33.749, longitude: -84.388 },
  reportedBy: "ann",
});

const execution = JSON.stringify({
  to: { arrivalDTTM: "2026-11-05T08:50:00", arrivalTz: "America/New_York", confirmedDTTM },
  confirmed: { "0": { confirmedQty: 1, scannedQty: 1 } },
});

/** So many completed stops of about 4 KB, each with its delivery. */
export function addDeliveries(stateDir: string, count: number): void {
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  // Nobody needs to roll this back, and a log of gigabytes would take as long as the rows.
  database.pragma("journal_mode = OFF");
  database.pragma("synchronous = OFF");
  const target = database
    .prepare(
      "select t.id, t.company_id from outbound_targets t join companies c on c.id = t.company_id where c.code = ?",
    )
    .get(companyCode) as { id: number; company_id: number };
  const event = database.prepare(
    `insert into recorded_events (company_id, stop_nbr, load_nbr, event_code, recorded_at, data)
     values (?, ?, 'R1', ?, 0, ?)`,
  );
  const completion = database.prepare(
    `insert into completions (company_id, stop_nbr, name, format, embeds_documents, trigger_code, first_event_id,
     last_event_id, stop_status, body, execution, load_nbr, driver, created_at)
     values (?, ?, ?, ?, 0, 7009, ?, ?, '90', ?, ?, 'R1', ?, ?)`,
  );
  const delivery = database.prepare(
    `insert into deliveries (guid, company_id, target_id, kind, subject_id, order_key, line_nbr, name, state, due_at,
     created_at) values (?, ?, ?, 'completion', ?, ?, 0, ?, 'waiting', ?, ?)`,
  );
  const parts = partsOf(jsonStop(numberMark, products.large));
  const driver = JSON.stringify({ driverName: "Ann Hill", driverUserName: "ann" });
  const now = Date.now();
  database.exec("begin immediate");
  for (let index = 0; index < count; index += 1) {
    const stopNbr = `C${numberText(index)}`;
    const name = completionFileName(stopNbr, confirmedDTTM);
    const [first, last] = [7007, 7009].map((code) =>
      Number(event.run(target.company_id, stopNbr, code, eventData).lastInsertRowid),
    );
    const { lastInsertRowid: id } = completion.run(
      ...[target.company_id, stopNbr, name, completionFormat, first, last],
      ...[parts.join(stopNbr), execution, driver, now],
    );
    delivery.run(`bench-${index}`, target.company_id, target.id, id, stopNbr, name, now, now);
  }
  database.exec("commit");
  database.pragma("journal_mode = WAL");
  database.close();
}

/** When deliveries were first tried, and when each was delivered, in the order of their ends; milliseconds since 1970. */
export function deliveryTimes(stateDir: string): {
  readonly begunAt: number;
  readonly doneAt: readonly number[];
} {
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  const sql =
    "select delivered_at as at, last_attempt_at as begun from deliveries where state = 'delivered' order by delivered_at";
  const rows = database.prepare(sql).all() as { at: number; begun: number }[];
  database.close();
  const begunAt = rows.reduce((first, { begun }) => Math.min(first, begun), Number.POSITIVE_INFINITY);
  return { begunAt, doneAt: rows.map(({ at }) => at) };
}
