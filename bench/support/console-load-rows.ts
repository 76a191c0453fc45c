/** Stops on loads with their events, orders, documents and imports, and one load of very many stops. */
import { jsonLoadHeader, jsonStop, numberMark } from "../sample-json.ts";
import { stopsOfLoad } from "./console-rows.ts";
import { withoutIndexes } from "../../test/support/without-indexes.ts";
import { numbers, type Planting } from "./planting.ts";

export const largeLoad = { loadNbr: "LARGE1", stops: 2_000, positions: 20_000 } as const;
/** Below, positions of loads and of what is imported for them begin. */
const loadsOfImport = 5;

const stopBody = JSON.stringify(jsonStop(numberMark, 0));
const loadBody = JSON.stringify(jsonLoadHeader(numberMark));
const driver = JSON.stringify({ driverName: "Ann Hill", driverUserName: "ann" });
const eventData = JSON.stringify({
  eventDTTM: "2026-11-05T09:00:00",
  eventTz: "America/New_York",
  reportedBy: "ann",
});

/** The stops that are kept are the second half of all. */
const stops = (
  count: number,
) => `with ${numbers(count)}, k as (select i + ${count} as s, (i + ${count}) / ${stopsOfLoad} as l from n)
  insert into stops (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, shipment_nbr, body, execution, load_id,
    load_position, created_at, updated_at)
  select c.company_id, printf('K%08d', s), printf('k%08d', s), case s % 5 when 0 then '10' when 1 then '38' else '90' end, '00',
    'S' || s, replace(:body, '${numberMark}', printf('K%08d', s)), '{}', l + 1, s % ${stopsOfLoad}, :now, :now
  from k join temp.shares as c on c.slot = l % 100`;

const loads = (
  count: number,
) => `with ${numbers(count / stopsOfLoad + 1)}, k as (select i + ${count / stopsOfLoad} as l from n)
  insert into loads (id, company_id, load_nbr, load_status, driver, body, extra, execution, created_at, updated_at)
  select l + 1, c.company_id, printf('L%07d', l), 40, :driver, replace(:body, '${numberMark}', printf('L%07d', l)),
    '{"load":{}}', '{}', :now, :now
  from k join temp.shares as c on c.slot = l % 100`;

const events = `insert into recorded_events (company_id, stop_nbr, load_nbr, event_code, recorded_at, data)
  select s.company_id, s.stop_nbr, printf('L%07d', s.load_id - 1), e.code, s.created_at, :data
  from stops as s, (select 7007 as code union all select 7009) as e where s.load_id is not null`;

const orders = `insert into orders (company_id, order_nbr, body, is_cancelled, cancellation, created_at, updated_at)
  select company_id, stop_nbr, json_object('orderNbr', stop_nbr), 0, '{}', created_at, updated_at from stops where id % 10 = 0`;

const documents = (
  count: number,
) => `with ${numbers(count)} insert into documents (company_id, guid, sha256, size, name, created_at)
  select c.company_id, printf('%08x-0000-4000-9000-%012x', i, i), lower(hex(randomblob(32))), 40000, 'proof' || i || '.pdf', :now
  from n join temp.shares as c on c.slot = i % 100`;

const imports = (
  count: number,
) => `with ${numbers(count)} insert into imports (guid, company_id, service_name, user_name, received_at,
    finished_at)
  select printf('%08x-0000-4000-a000-%012x', i, i), c.company_id, 'default', 'erp', :now - (${count} - i) * 60000,
    :now - (${count} - i) * 60000 + 200
  from n join temp.shares as c on c.slot = i % 100`;

const items = `insert into import_items (import_id, position, load_nbr, state, reasons, decided_at)
  select m.id, p.position, printf('L%07d', m.id * ${loadsOfImport} + p.position), 'applied', '[]', m.finished_at
  from imports as m, (${Array.from({ length: loadsOfImport }, (_, position) => `select ${position} as position`).join(" union all ")}) as p`;

function addLargeLoad({ database, companyIds, now }: Planting): void {
  const { loadNbr, stops: count, positions } = largeLoad;
  const [companyId] = companyIds;
  const made = database
    .prepare(
      `insert into loads (company_id, load_nbr, load_status, driver, body, extra, execution, created_at, updated_at)
       values (?, ?, 40, ?, ?, '{"load":{}}', '{}', ?, ?)`,
    )
    .run(companyId, loadNbr, driver, loadBody.replaceAll(numberMark, loadNbr), now, now);
  const loadId = Number(made.lastInsertRowid);
  database
    .prepare(
      `with ${numbers(count)} insert into stops (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, body, execution,
         load_id, load_position, created_at, updated_at)
       select :companyId, 'BIG' || i, 'big' || i, '38', '00', replace(:body, '${numberMark}', 'BIG' || i), '{}', :loadId, i, :now, :now
       from n`,
    )
    .run({ companyId, body: stopBody, loadId, now });
  database
    .prepare(
      `with ${numbers(positions)} insert into positions (load_id, at, event_dttm, event_tz, latitude, longitude, reported_by)
       select :loadId, :now - (${positions} - i) * 1000, '2026-11-05T09:00:00', 'America/New_York', 33.7 + i * 0.00001,
         -84.3 + i * 0.00001, 'ann' from n`,
    )
    .run({ loadId, now });
  database
    .prepare(
      `with ${numbers(count)} insert into recorded_events (company_id, stop_nbr, load_nbr, event_code, recorded_at, data)
       select :companyId, 'BIG' || i, :loadNbr, 7007, :now, :data from n`,
    )
    .run({ companyId, loadNbr, now, data: eventData });
}

export function addLoadRows(planting: Planting): void {
  const { database, rows, now } = planting;
  const count = rows / 10;
  withoutIndexes(database, ["stops", "loads", "recorded_events", "orders", "documents", "imports"], () => {
    database.prepare(loads(count)).run({ now, driver, body: loadBody });
    database.prepare(stops(count)).run({ now, body: stopBody });
    database.prepare(events).run({ data: eventData });
    database.exec(orders);
    database.prepare(documents(count / 10)).run({ now });
    database.prepare(imports(count / 10)).run({ now });
    database.exec(items);
    addLargeLoad(planting);
  });
}
