/** Holds units of work on PostgreSQL to their rules, as in tests (`unit-checks.ts`): by triggers that stay in the database. */
import { sql } from "kysely";
import { type Transaction, undone } from "../groups/group-commit.ts";
import type { UnitWatch } from "../groups/unit-checks.ts";
import { idsLock, watchLock } from "./advisory-locks.ts";
import type { PostgresSession, SessionQuery } from "./postgres-session.ts";

/** Two that open the database at the same moment make the same. */
const ownerFunction = `
select pg_advisory_xact_lock(${watchLock});
create or replace function refuse_other_owner() returns trigger language plpgsql as $owner$
declare owner bigint := nullif(current_setting('dropgate.unit_owner', true), '');
begin
  if (tg_op <> 'INSERT' and old.company_id <> owner) or (tg_op <> 'DELETE' and new.company_id <> owner) then
    raise exception 'a unit of work writes % of another company than its own', tg_table_name;
  end if;
  if tg_op = 'DELETE' then return old; end if;
  return new;
end
$owner$`;

const ownerTriggers = `
do $triggers$
declare owned record;
begin
  for owned in
    select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'company_id'
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      and not exists (select 1 from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'unit_owner')
  loop
    execute format('create trigger unit_owner before insert or update or delete on %I for each row
      execute function refuse_other_owner()', owned.relname);
  end loop;
end
$triggers$`;

interface GivenId {
  readonly name: string;
  readonly last: number | null;
}

/** A sequence keeps what it gave, whatever is undone. */
async function listGivenIds(tx: Transaction): Promise<readonly GivenId[]> {
  const { rows } = await sql<GivenId>`select sequencename::text as name, last_value as last from pg_sequences
    where schemaname = current_schema()`.execute(tx);
  return rows;
}

async function giveAgain(tx: Transaction, before: readonly GivenId[]): Promise<void> {
  const known = new Map(before.map(({ name, last }) => [name, last]));
  for (const { name, last } of await listGivenIds(tx)) {
    const wanted = known.get(name) ?? null;
    if (last !== wanted)
      await sql`select setval(${name}::regclass, ${wanted ?? 1}::bigint, ${wanted === null ? "f" : "t"}::boolean)`.execute(
        tx,
      );
  }
}

/** What a transaction begins with that gives ids and is no unit of work. */
export const beforeIds: SessionQuery = { text: `select pg_advisory_xact_lock(${idsLock})`, values: [] };

/** Makes the database refuse rows of another company than the unit's. */
export async function watchPostgres(writer: PostgresSession): Promise<UnitWatch> {
  // One text is one transaction.
  await writer.query({ text: `${ownerFunction};${ownerTriggers}`, values: [] });
  return {
    answersAtOnce: false,
    async noteOwner(tx, companyId) {
      await sql`select set_config('dropgate.unit_owner', ${companyId === null ? "" : String(companyId)}, true)`.execute(
        tx,
      );
    },
    async undone(tx, work) {
      // Ids that another node has been given meanwhile must not be given again: until the commit, none has any.
      await sql`select pg_advisory_xact_lock(${sql.lit(idsLock)})`.execute(tx);
      const before = await listGivenIds(tx);
      try {
        return await undone(tx, work);
      } finally {
        await giveAgain(tx, before);
      }
    },
  };
}
