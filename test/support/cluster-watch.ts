/**
 * What PostgreSQL itself notes of the work of a cluster, by triggers in a schema of the test's own: each decision, each state
 * that a stop has had, and what was written by a node that had not the company at that moment. A transaction has the row of
 * the company locked while it writes, so what it finds there is what is in force.
 */
import type { ClusterDatabase } from "./cluster-database.ts";

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
  node text, owner text, epoch bigint);
create table watch.decisions (nbr bigint generated always as identity, at bigint not null, file_id bigint, company_id bigint,
  name text, state_before text, state text, node text);
create index decisions_by_name on watch.decisions (name);
create table watch.stop_states (nbr bigint generated always as identity, stop_nbr text, mark text, node text);
create index stop_states_by_stop on watch.stop_states (stop_nbr);

create function watch.node() returns text language sql as
  $$ select substr(current_setting('application_name'), 10) $$;
create function watch.note_work() returns trigger language plpgsql as $$
declare lane record;
begin
  if current_setting('application_name') not like 'dropgate %' then return null; end if;
  select owner, epoch into lane from leases where company_id = new.company_id;
  if lane.owner is distinct from watch.node() then
    insert into watch.intrusions (what, row_id, company_id, node, owner, epoch)
      values (tg_name, (to_jsonb(new)->>'id')::bigint, new.company_id, watch.node(), lane.owner, lane.epoch);
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
create trigger decisions after update of state on files for each row
  when (old.state is distinct from new.state) execute function watch.note_decision();
create trigger stop_made after insert on stops for each row execute function watch.note_stop();
create trigger stop_changed after update of body on stops for each row
  when (old.body is distinct from new.body) execute function watch.note_stop();
`;

/** Once, in a database that has its tables. */
export async function watchCluster(database: ClusterDatabase): Promise<void> {
  const triggers = owned.map(
    ([table, when, condition], at) =>
      `create trigger work_${at}_of_${table} after ${when} on ${table} for each row when (${condition})
        execute function watch.note_work();`,
  );
  await database.ask(`${schema}${triggers.join("\n")}`);
}

/** What was written by nodes that had not the company since the last look, in words. */
export async function intrusions(database: ClusterDatabase): Promise<readonly string[]> {
  const text = `delete from watch.intrusions returning what, row_id, company_id, node, owner, epoch, at::text`;
  return (await database.ask(text)).map(
    ([what, row, company, node, owner, epoch, at]) =>
      `${what}: row ${row} of company ${company} written by ${node} while ${owner} had it (epoch ${epoch}) at ${at}`,
  );
}
