/**
 * What PostgreSQL itself notes of the work of a cluster, by triggers in a schema of the test's own: each decision, each state
 * that a stop has had, and what was written by a process that had not the company at that moment. Such a write is one
 *
 *   - of another node than the owner, or after the owner has given the company back;
 *   - of a process of the owner's name that has not claimed the lease in force: one from before a restart, or a namesake;
 *   - of the process that has, in a transaction that began before the claim: whatever it writes was asked for under an
 *     earlier lease, since a node begins the work of a company after its claim is committed;
 *   - without the lock of the lane, under which alone the epoch that was compared stays in force until the commit.
 *
 * Processes are told apart by the name that they give their sessions (`applicationNameOf`). Two things are not seen. The
 * epoch that a unit of work carries never reaches the database: one that the same process has kept from a former lease
 * looks, in a transaction that begins after the process has claimed the company again, as one of the lease in force. And
 * until the successor of a process has claimed, writes of the process are those of the lease in force, as they are for the
 * fence. Both times are of the clock of the server, which must not be set back meanwhile.
 */
import type { ClusterDatabase } from "./cluster-database.ts";

type Asking = Pick<ClusterDatabase, "ask">;

/** What the sessions of a process of a node are called: as the program calls them, and which start of the node it is. */
export function applicationNameOf(node: string, run: number): string {
  return `dropgate ${node} run ${run}`;
}

/** Work of the node that has the company, and of no other. */
const owned = [
  ["files", "update of state", "old.state is distinct from new.state"],
  ["files", "update of is_filed", "old.is_filed is distinct from new.is_filed and old.state = new.state"],
  ["deliveries", "update of state", "old.state is distinct from new.state"],
  ["deliveries", "update of attempts", "old.attempts is distinct from new.attempts"],
  ["exports", "insert", "true"],
  ["export_schedules", "update of next_due_at, watermark", "true"],
  ["imports", "update of finished_at", "old.finished_at is distinct from new.finished_at"],
  ["remote_states", "update of polled_at, succeeded_at, failures", "true"],
  ["remote_files", "insert or update", "true"],
  ["incidents", "insert", "new.company_id <> 0"],
] as const;

const schema = `create schema watch;
create table watch.intrusions (at timestamptz not null default clock_timestamp(), what text, row_id bigint, company_id bigint,
  process text, why text, epoch bigint);
create table watch.claims (company_id bigint primary key, process text not null, at timestamptz not null);
create table watch.decisions (nbr bigint generated always as identity, at bigint not null, file_id bigint, company_id bigint,
  name text, state_before text, state text, node text);
create index decisions_by_name on watch.decisions (name);
create table watch.stop_states (nbr bigint generated always as identity, stop_nbr text, mark text, node text);
create index stop_states_by_stop on watch.stop_states (stop_nbr);

create function watch.process() returns text language sql as $$ select current_setting('application_name') $$;
create function watch.node() returns text language sql as $$ select substring(watch.process() from '^dropgate (\\S+)') $$;
create function watch.note_claim() returns trigger language plpgsql as $$
begin
  insert into watch.claims values (new.company_id, watch.process(), clock_timestamp())
    on conflict (company_id) do update set process = excluded.process, at = excluded.at;
  return null;
end $$;
create function watch.has_lane(company bigint) returns boolean language sql as $$
  select exists (select from lanes where company_id = company
    and pg_current_xact_id()::xid in (lanes.xmax, lanes.xmin)) $$;
create function watch.note_work() returns trigger language plpgsql as $$
declare
  lease record;
  why text;
begin
  if watch.node() is null then return null; end if;
  select owner, epoch, process, at into lease
    from leases left join watch.claims using (company_id) where company_id = new.company_id;
  why := case
    when lease.owner is distinct from watch.node() then 'while ' || coalesce(lease.owner, 'nobody') || ' had it'
    when lease.process is distinct from watch.process() then 'while it was claimed by ' || coalesce(lease.process, 'nobody')
    when transaction_timestamp() <= lease.at then 'in a transaction from before its claim'
    when not watch.has_lane(new.company_id) then 'without the lock of its lane' end;
  if why is not null then
    insert into watch.intrusions (what, row_id, company_id, process, why, epoch)
      values (tg_name, (to_jsonb(new)->>'id')::bigint, new.company_id, watch.process(), why, lease.epoch);
  end if;
  return null;
end $$;
create function watch.note_decision() returns trigger language plpgsql as $$
begin
  insert into watch.decisions (at, file_id, company_id, name, state_before, state, node) values (
    floor(extract(epoch from clock_timestamp()) * 1000), new.id, new.company_id, new.name, old.state, new.state, watch.node());
  return null;
end $$;
create function watch.note_stop() returns trigger language plpgsql as $$
begin
  insert into watch.stop_states (stop_nbr, mark, node)
    values (new.stop_nbr, substring(new.body from '"mark-([0-9]+)"'), watch.node());
  return null;
end $$;
create trigger claims after update of epoch on leases for each row
  when (old.epoch is distinct from new.epoch) execute function watch.note_claim();
create trigger decisions after update of state on files for each row
  when (old.state is distinct from new.state) execute function watch.note_decision();
create trigger stop_made after insert on stops for each row execute function watch.note_stop();
create trigger stop_changed after update of body on stops for each row
  when (old.body is distinct from new.body) execute function watch.note_stop();
`;

/** Once, in a database that has its tables. */
export async function watchCluster(database: Asking): Promise<void> {
  const triggers = owned.map(
    ([table, when, condition], at) =>
      `create trigger work_${at}_of_${table} after ${when} on ${table} for each row when (${condition})
        execute function watch.note_work();`,
  );
  await database.ask(`${schema}${triggers.join("\n")}`);
}

/** What was written by processes that had not the company since the last look, in words. */
export async function intrusions(database: Asking): Promise<readonly string[]> {
  const text = `delete from watch.intrusions returning what, row_id, company_id, process, why, epoch, at::text`;
  return (await database.ask(text)).map(
    ([what, row, company, process, why, epoch, at]) =>
      `${what}: row ${row} of company ${company} written by ${process} ${why} (epoch ${epoch}) at ${at}`,
  );
}
