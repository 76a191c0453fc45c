/** Deliveries in all states to some targets of each company, with what they deliver, their attempts, and exports. */
import { completionFormat } from "../../src/domain/outbound/completion-format.ts";
import { dayMs } from "../../src/lib/durations.ts";
import { jsonStop, numberMark } from "../sample-json.ts";
import { filesPerDay, stopsOfLoad } from "./console-rows.ts";
import { withoutIndexes } from "../../test/support/without-indexes.ts";
import { numbers, type Planting } from "./planting.ts";

/** Targets of each company. The last one was taken out of the configuration long ago. */
export const targets = ["host", "tms", "mail", "former"] as const;
/** In the last ten minutes so many were made, as beside twenty files a second. */
const lately = 12_000;
/** An export has the completions of so many numbers before its own. */
const window = 4_000;

const addTargets = `insert into outbound_targets (company_id, name, takes_completions, is_configured)
  select c.company_id, t.value, 1, 0 from (select distinct company_id from temp.shares) as c, json_each(:targets) as t
  where true on conflict (company_id, name) do nothing`;

/** Those of the last one are the oldest. */
const targetOfRow = (count: number) =>
  `case when i < ${count / 1_000} then 'former' when i % 10 < 6 then 'host' when i % 10 < 9 then 'tms' else 'mail' end`;
const isExport = "i % 40 = 5";

/** The newest of one target wait, or are behind another of their stop. */
const stateOfRow = (count: number) => `case when i % 120 = 7 then 'dead' when i % 300 = 11 then 'dropped'
  when i >= ${count - count / 200} and i % 10 between 6 and 8 then case when i % 10 = 8 then 'behind' else 'waiting' end
  else 'delivered' end`;

const at = (count: number) =>
  `case when i >= ${count - Math.min(lately, count / 2)} then :now - (${count} - i) * 50
    else :now - 600000 - cast((${count} - i) * ${(dayMs / filesPerDay) * 10} as integer) end`;

const made = (count: number) => `with ${numbers(count)}, d as (
  select i, i + ${count} as s, (i + ${count}) / ${stopsOfLoad} as l, ${targetOfRow(count)} as target, ${stateOfRow(count)} as state,
    ${at(count)} as at from n)`;

const completions = (
  count: number,
) => `${made(count)} insert into completions (id, company_id, stop_nbr, name, format, embeds_documents,
    trigger_code, first_event_id, last_event_id, stop_status, body, execution, load_nbr, driver, created_at)
  select i + 1, c.company_id, printf('K%08d', s), printf('K%08d_done.xml', s), ${completionFormat}, 0, 7009, 1, 2, '90',
    replace(:body, '${numberMark}', printf('K%08d', s)), '{}', printf('L%07d', l), '{}', at
  from d join temp.shares as c on c.slot = l % 100`;

const messages = (
  count: number,
) => `${made(count)} insert into messages (id, company_id, stop_nbr, event_code, channel, address, facts,
    created_at)
  select i + 1, c.company_id, printf('K%08d', s), 7009, 'email', 'jo.doe@example.com', '{}', at
  from d join temp.shares as c on c.slot = l % 100 where target = 'mail'`;

const exports = (
  count: number,
) => `${made(count)} insert into exports (id, company_id, name, sequence_nbr, after_completion_id,
    last_completion_id, form, created_at, window_begin, window_end)
  select i + 1, c.company_id, case i % 80 when 5 then 'daily' else 'hourly' end, i + 1, max(0, i + 1 - ${window}), i + 1, 'document', at,
    max(0, i + 1 - ${window}), i + 1
  from d join temp.shares as c on c.slot = l % 100 where ${isExport}`;

const deliveries = (
  count: number,
) => `${made(count)} insert into deliveries (guid, company_id, target_id, kind, subject_id, order_key,
    line_nbr, name, state, due_at, attempts, first_attempt_at, last_attempt_at, delivered_at, fault, fault_text, size, sha256,
    created_at)
  select lower(printf('%08x-0000-4000-8000-%012x', i, i)), c.company_id, t.id,
    case when d.target = 'mail' then 'message' when ${isExport} then 'export' else 'completion' end, i + 1,
    printf('K%08d', s), 0, printf('K%08d_done.xml', s), d.state, at, iif(d.state = 'waiting', 0, 1), at + 50, at + 90,
    iif(d.state = 'delivered', at + 90, null), iif(d.state = 'dead', 'refused', iif(d.state = 'dropped', 'givenUp', null)),
    iif(d.state = 'dead', 'the server answered 422: unknown customer', null), 4000, lower(hex(randomblob(32))), at
  from d join temp.shares as c on c.slot = l % 100
    join outbound_targets as t on t.company_id = c.company_id and t.name = d.target`;

/** Of each that is dead five, of each twentieth of the others one. */
const attempts = `insert into delivery_attempts (delivery_id, at, duration_ms, fault, fault_text)
  select d.id, d.created_at + p.nth * 1000, 40, 'refused', 'the server answered 422: unknown customer'
  from deliveries as d, (select 1 as nth union all select 2 union all select 3 union all select 4 union all select 5) as p
  where d.state = 'dead' or (p.nth = 1 and d.id % 20 = 0)`;

const repeats = `insert into delivery_repeats (delivery_id, asked_at, state, attempts, action)
  select id, created_at + 10000, 'dead', 5, 'again' from deliveries where state = 'dead' and id % 10 = 0`;

const counts = `update outbound_targets set
  open_count = (select count(*) from deliveries as d where d.target_id = outbound_targets.id and d.state in ('waiting', 'behind')),
  dead_count = (select count(*) from deliveries as d where d.target_id = outbound_targets.id and d.state = 'dead'),
  added_count = (select count(*) from deliveries as d where d.target_id = outbound_targets.id and d.state = 'dead')`;

export function addDeliveryRows(planting: Planting): void {
  const { database, rows, now } = planting;
  const count = rows / 10;
  const body = JSON.stringify(jsonStop(numberMark, 0));
  database.prepare(addTargets).run({ targets: JSON.stringify(targets) });
  withoutIndexes(database, ["deliveries", "completions", "messages", "delivery_attempts"], () => {
    database.prepare(completions(count)).run({ now, body });
    for (const sql of [messages, exports, deliveries]) database.prepare(sql(count)).run({ now });
    database.exec(attempts);
    database.exec(repeats);
  });
  database.exec(counts);
}
