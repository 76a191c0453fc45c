/** Reservations that would take long to come by over HTTP. The daemon must not run. */
import { join } from "node:path";
import { openSqlite } from "../../src/store/database/sqlite-dialect.ts";
import { companyCode } from "./sites.ts";
import { dayMs, hourMs } from "../../src/lib/durations.ts";

export interface Fill {
  readonly region: string;
  readonly count: number;
  /** Of how many holds are out of a hundred; the others are appointments of orders. */
  readonly holdsPercent: number;
  /** When the holds run out, milliseconds UTC. */
  readonly expiresAt: number;
  /** Keys of the slots over which they are spread evenly. */
  readonly slotKeys: readonly string[];
}

/** `YYYY-MM-DDThh:mm` of each hour from yesterday on, so that any zone's days are among them. */
export function hourlyKeys(days: number): readonly string[] {
  const first = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
  const hours = (days + 2) * 24;
  return Array.from({ length: hours }, (_, hour) =>
    new Date(first + hour * hourMs).toISOString().slice(0, 16),
  );
}

type Database = ReturnType<typeof openSqlite>;

function insertAll(database: Database, companyId: number, fill: Fill): void {
  const row = database.prepare(
    `insert into appointments (company_id, region, slot_key, starts_at, order_nbr, address_key, state, quantity,
     weight, volume, service_minutes, expires_at, created_at, updated_at)
     values (?, ?, ?, 0, ?, ?, ?, 2000, 12500, 0, 20000, ?, 0, 0)`,
  );
  for (let index = 0; index < fill.count; index += 1) {
    const key = fill.slotKeys[index % fill.slotKeys.length];
    const isHold = index % 100 < fill.holdsPercent;
    const [order, state] = isHold ? [null, "held"] : [`${fill.region}${index}`, "confirmed"];
    const address = `address-${index}`.padEnd(64, "0");
    row.run(companyId, fill.region, key, order, address, state, isHold ? fill.expiresAt : null);
  }
  database
    .prepare(
      `insert into appointment_use select company_id, region, slot_key, count(*) * 1000, sum(quantity), sum(weight),
       sum(volume), sum(service_minutes) from appointments where region = ? group by company_id, region, slot_key`,
    )
    .run(fill.region);
}

/** That many reservations in the slots of a region that has none. */
export function addReservations(stateDir: string, fill: Fill): void {
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  const row = database.prepare("select id from companies where code = ?").get(companyCode) as { id: number };
  database.exec("begin immediate");
  insertAll(database, row.id, fill);
  database.exec("commit");
  database.close();
}
