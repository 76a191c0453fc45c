/** What belongs to the whole installation: users, the audit, incidents, and how many files came each minute. */
import { dayMs, hourMs, minuteMs } from "../../src/lib/durations.ts";
import { numbers, type Planting } from "./planting.ts";

/** Who opens the pages: a user of the large company, who becomes one of all. */
export const viewerName = "viewer";
const plantedUsers = 400;
const plantedAudit = 100_000;

const users = `with ${numbers(plantedUsers)} insert into users (user_name, password_hash, is_enabled, must_change_password, created_at,
    updated_at)
  select printf('person%03d', i), 'x', 1, 0, :now, :now from n`;

/** One in ten is a member of every company. */
const memberships = `insert into memberships (company_id, user_id, user_name, roles, profile)
  select c.company_id, u.id, u.user_name, iif(u.id % 20 = 0, '["MemberAdmin"]', '["DI_Inquiry"]'), '{}'
  from users as u join (select distinct company_id from temp.shares) as c
    on u.id % 10 = 0 or c.company_id = (select company_id from temp.shares where slot = u.id % 100)
  where u.user_name like 'person%'`;

const viewerOfAll = `insert into memberships (company_id, user_id, user_name, roles, profile)
  select c.company_id, m.user_id, m.user_name, m.roles, m.profile
  from memberships as m join (select distinct company_id from temp.shares) as c on c.company_id <> m.company_id
  where m.user_name = '${viewerName}'`;

const addresses = `with ${numbers(5)} insert into sign_in_addresses (user_id, peer, last_at)
  select u.id, '192.0.2.' || n.i, :now - u.id * 60000 from users as u, n where u.user_name like 'person%'`;

const keys = `insert into user_keys (user_id, key_type, key_blob, comment, created_at)
  select id, 'ssh-ed25519', 'AAAAC3NzaC1lZDI1NTE5AAAAIJ' || id, 'laptop', :now from users where user_name like 'person%'`;

/** Looks at content, retries, sign-ins; one in twenty of no company. */
const audit = `with ${numbers(plantedAudit)} insert into audit (at, user_id, user_name, company_id, kind, subject, reason, before, after,
    address)
  select :now - (${plantedAudit} - i) * 300000, u.id, u.user_name, iif(i % 20 = 19, null, c.company_id),
    case when i % 20 = 19 then 'config.reload' when i % 1000 = 17 then 'user.roles' when i % 7 = 0 then 'file.retry'
      when i % 7 < 5 then 'content.seen' else 'signedIn' end,
    case when i % 7 < 5 then printf('file K%08d_20260101_000000.xml 5c1e0f2a-0000-0000-0000-%012x', i, i) end, 'as asked by phone',
    json_object('state', 'refused'), json_object('state', 'retry', 'note', 'the carrier was mended'), '192.0.2.7'
  from n join temp.shares as c on c.slot = i % 100 join users as u on u.user_name = printf('person%03d', i % 61)`;

const incidents = `with ${numbers(500)} insert into incidents (company_id, kind, cause, opened_at, seen_at, closed_at, count, level,
    summary, remedy, samples)
  select c.company_id, 'refusedFiles', 'host' || i, :now - (500 - i) * ${hourMs}, :now, iif(i < 490, :now, null), 3, 1,
    '3 files of host' || i || ' were refused', 'Look at the files.', '[]'
  from n join temp.shares as c on c.slot = i % 100`;

/** Of each minute of a day, and of each hour of two weeks. */
const rates = (
  step: number,
  count: number,
) => `with ${numbers(count)} insert or replace into file_rates (company_id, step_minutes, at,
    applied, refused, others, delays)
  select c.company_id, ${step}, (cast(:now as integer) / ${step * minuteMs} - i) * ${step * minuteMs}, 18, 1, 0, '4:9 5:6 6:3 9:1'
  from n, (select distinct company_id from temp.shares) as c`;

export function addSiteRows({ database, now }: Planting): void {
  database.prepare(users).run({ now });
  for (const sql of [memberships, viewerOfAll]) database.exec(sql);
  for (const sql of [addresses, keys, audit, incidents]) database.prepare(sql).run({ now });
  database.prepare(rates(1, dayMs / minuteMs)).run({ now });
  database.prepare(rates(60, (14 * dayMs) / hourMs)).run({ now });
}
