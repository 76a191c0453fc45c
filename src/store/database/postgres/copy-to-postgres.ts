/**
 * A database of PostgreSQL as the target of a copy.
 *
 *   empty ──> tables made, `unfinished_copy` noted ──> one transaction: rows, indexes, references, proof, the note removed
 *
 * A crash leaves the database without rows and with the note: no start takes it, and a further copy only when it is told to
 * begin anew.
 */
import { messageOf } from "../../../lib/errors.ts";
import { OperatorError } from "../../../lib/operator-error.ts";
import { clearTable, rowNumber, unfinishedCopyKey } from "../copy/copied-tables.ts";
import type { CopiedRow, CopiedTable, CopyTarget, Counters } from "../copy/copy-side.ts";
import { linesOf } from "../copy/row-text.ts";
import { migrations } from "../migrations/migrations.ts";
import { tablesFilledBy } from "../sqlite-schema.ts";
import { CopySession } from "./copy-session.ts";
import { prepareForCopy, schemaFault } from "./migrate-postgres.ts";
import { onceInSession } from "./once-in-session.ts";
import { identitiesOf, postgresCounters, postgresRows, postgresTables } from "./postgres-rows.ts";
import { findPostgres, type FoundPostgres } from "./postgres-schema.ts";
import { requireServer } from "./server-facts.ts";

const indexesText = `
select i.relname, pg_get_indexdef(x.indexrelid) from pg_index x
join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
where t.relnamespace = current_schema()::regnamespace
  and not exists (select 1 from pg_constraint k where k.conindid = x.indexrelid) order by i.relname`;

const referencesText = `
select conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) from pg_constraint
where contype = 'f' and connamespace = current_schema()::regnamespace order by 1, 2`;

const triggersText = `
select tgrelid::regclass::text, quote_ident(tgname) from pg_trigger
where not tgisinternal and tgenabled = 'O'
  and tgrelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace)`;

/** The entries that each company ever had: those that are there, and those that its age has removed. */
const enteredText = `
insert into entered_files (company_id, entries)
select company_id, sum(entries) from (
  select company_id, count(*) as entries from files group by company_id
  union all select company_id, applied + refused + duplicate + superseded from pruned_entries
) each group by company_id having sum(entries) > 0`;

/** What is missing in the sums of the companies is missing in that of all. */
const unownedText = `
insert into entered_files (company_id, entries)
select min(id), $1 - (select coalesce(sum(entries), 0) from entered_files) from companies having min(id) is not null
on conflict (company_id, counter) do update set entries = entered_files.entries + excluded.entries`;

/** What slows down the load of rows, dropped, and made again in the same words. */
class Parts {
  readonly #session: CopySession;
  #indexes: readonly CopiedRow[] = [];
  #references: readonly CopiedRow[] = [];
  #triggers: readonly CopiedRow[] = [];

  constructor(session: CopySession) {
    this.#session = session;
  }

  async drop(): Promise<void> {
    const ask = (text: string) => this.#session.ask(text);
    [this.#references, this.#triggers] = [await ask(referencesText), await ask(triggersText)];
    for (const [table, name] of this.#references) await ask(`alter table ${table} drop constraint ${name}`);
    this.#indexes = await ask(indexesText);
    for (const [name] of this.#indexes) await ask(`drop index "${name}"`);
    for (const [table, name] of this.#triggers) await ask(`alter table ${table} disable trigger ${name}`);
  }

  async make(): Promise<void> {
    const ask = (text: string) => this.#session.ask(text);
    for (const [, definition] of this.#indexes) await ask(String(definition));
    for (const [table, name, definition] of this.#references)
      await ask(`alter table ${table} add constraint ${name} ${definition}`);
    for (const [table, name] of this.#triggers) await ask(`alter table ${table} enable trigger ${name}`);
    const found = [await ask(indexesText), await ask(referencesText), await ask(triggersText)];
    const wanted = [this.#indexes, this.#references, this.#triggers];
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      throw new Error("the copy has other indexes, references or triggers than it began with");
  }
}

async function* asLines(batches: AsyncIterable<readonly CopiedRow[]>): AsyncIterable<string> {
  for await (const batch of batches) yield linesOf(batch);
}

async function putCounters(session: CopySession, { lastIds, ledgerGaps }: Counters): Promise<void> {
  for (const { table, column, sequence } of await identitiesOf(session)) {
    const [[greatest] = []] = await session.ask(`select max("${column}") from "${table}"`);
    const last = (column === rowNumber ? undefined : lastIds.get(table)) ?? greatest ?? null;
    // Without a value the sequence begins anew.
    await session.ask("select setval($1::regclass, coalesce($2::bigint, 1), $2::bigint is not null)", [
      sequence,
      last,
    ]);
  }
  const made = BigInt(lastIds.get("files") ?? "0") - BigInt(ledgerGaps);
  await session.ask("delete from entered_files");
  await session.ask(enteredText);
  await session.ask(unownedText, [String(made)]);
}

/** Rejects for a database that has a state, or is of others. */
async function requireRoom(session: CopySession, isEmpty: boolean): Promise<void> {
  await session.requireAlone();
  if (isEmpty) return;
  const filled = tablesFilledBy(migrations.map(({ sql }) => sql));
  for (const { name } of await postgresTables(session)) {
    if (name === "meta" || filled.has(name)) continue;
    const [[isFilled] = []] = await session.ask(`select exists (select 1 from "${name}")::int`);
    if (isFilled !== "0")
      throw new OperatorError(
        `the database on PostgreSQL has a state already (rows in ${name}), and a copy replaces nothing: name an empty one`,
      );
  }
}

function requireWelcome(found: FoundPostgres, isAnew: boolean): void {
  const fault = schemaFault(found);
  if (fault !== undefined) throw new OperatorError(fault);
  if (found.isUnfinishedCopy && !isAnew)
    throw new OperatorError(
      "the database on PostgreSQL is of a copy that was not finished: begin anew with --anew",
    );
}

async function prepare(url: string, session: CopySession, isAnew: boolean): Promise<void> {
  const found = await onceInSession(url, async (asking) => {
    await requireServer(asking);
    return await findPostgres(asking);
  });
  requireWelcome(found, isAnew);
  await requireRoom(session, found.isEmpty);
  await onceInSession(url, (asking) => prepareForCopy(asking, found));
}

async function begin(session: CopySession, parts: Parts): Promise<void> {
  await session.begin("read committed");
  await requireRoom(session, false);
  await parts.drop();
}

async function commit(session: CopySession): Promise<void> {
  try {
    await session.commit();
  } catch (error) {
    const remedy =
      "name the database in `store`, and run `dropgate check`: it says whether the copy was finished";
    throw new OperatorError(`the end of the copy was not answered (${messageOf(error)}): ${remedy}`, {
      cause: error,
    });
  }
}

function targetOf(session: CopySession, parts: Parts): CopyTarget {
  return {
    tables: () => postgresTables(session),
    rows: (table) => postgresRows(session, table),
    counters: () => postgresCounters(session),
    async write(table: CopiedTable, batches) {
      const { name, columns } = table;
      await session.ask(clearTable(table));
      const list = columns.map((column) => `"${column.name}"`).join(", ");
      await session.copyIn(`copy "${name}" (${list}) from stdin`, asLines(batches));
      // Its planner knows nothing of the rows before.
      await session.ask(`analyze "${name}"`);
    },
    async settle(counters) {
      await parts.make();
      await putCounters(session, counters);
    },
    async complete() {
      await session.ask("delete from meta where key = $1", [unfinishedCopyKey]);
      await commit(session);
    },
    close: () => session.close(),
  };
}

/**
 * Throws an `OperatorError` when the database has another state, or a copy that was not finished and `isAnew` is false. The
 * transaction of the rows is open from here on; `close` before `complete` undoes it.
 */
export async function openPostgresTarget(url: string, isAnew: boolean): Promise<CopyTarget> {
  const session = await CopySession.connect(url);
  try {
    await prepare(url, session, isAnew);
    const parts = new Parts(session);
    await begin(session, parts);
    return targetOf(session, parts);
  } catch (error) {
    await session.close();
    throw error;
  }
}
