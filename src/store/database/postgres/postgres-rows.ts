/** The tables and rows of a database of PostgreSQL as a copy has them. */
import { columnKindOf, rowNumber, selectRows } from "../copy/copied-tables.ts";
import type { ColumnKind, CopiedRow, CopiedTable, Counters, FoundTable } from "../copy/copy-side.ts";
import { realText } from "../copy/row-text.ts";
import type { CopySession } from "./copy-session.ts";

const columnsText = `
select c.relname, a.attname, format_type(a.atttypid, a.atttypmod) from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') order by c.relname, a.attnum`;

/** A key is not needed: that of SQLite is used. */
export async function postgresTables(session: CopySession): Promise<readonly FoundTable[]> {
  const found = new Map<string, { name: string; kind: ColumnKind }[]>();
  for (const [table, column, type] of await session.ask(columnsText)) {
    const columns = found.get(String(table)) ?? [];
    columns.push({ name: String(column), kind: columnKindOf(String(type), `${table}.${column}`) });
    found.set(String(table), columns);
  }
  return [...found].map(([name, columns]) => ({ name, columns, key: [] }));
}

/** Characters that are held at once. */
const batchSize = 4_000_000;
const rowsOfBatch = 5_000;
const firstBatch = 100;

/** As many rows as hold about so much, by those that came last. */
function nextBatch(rows: readonly CopiedRow[]): number {
  let size = 0;
  for (const row of rows) for (const text of row) size += text?.length ?? 1;
  return Math.max(1, Math.min(rowsOfBatch, Math.floor((batchSize * rows.length) / size)));
}

/** The rows of a table in batches, by a cursor of the transaction of the session; the next batch is read meanwhile. */
export async function* postgresRows(
  session: CopySession,
  table: CopiedTable,
): AsyncIterable<readonly CopiedRow[]> {
  const reals = table.columns.map(({ kind }) => kind === "real");
  const inOneForm = (row: CopiedRow) =>
    row.map((text, at) => (text !== null && reals[at] === true ? realText(Number(text)) : text));
  await session.ask(`declare copied no scroll cursor for ${selectRows(table)}`);
  // The server looks for the next ones meanwhile.
  const fetch = (count: number) => {
    const fetching = session.ask(`fetch ${count} from copied`);
    // Told to whoever awaits it, which may be later.
    fetching.catch(() => undefined);
    return fetching;
  };
  let fetching = fetch(firstBatch);
  for (;;) {
    const rows = await fetching;
    if (rows.length === 0) break;
    fetching = fetch(nextBatch(rows));
    yield reals.includes(true) ? rows.map(inOneForm) : rows;
  }
  await session.ask("close copied");
}

export interface Identity {
  readonly table: string;
  readonly column: string;
  readonly sequence: string;
}

const identitiesText = `
select c.relname, a.attname, pg_get_serial_sequence(quote_ident(c.relname), a.attname) from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''
where c.relnamespace = current_schema()::regnamespace order by c.relname, a.attname`;

/** The columns whose values a sequence gives. */
export async function identitiesOf(session: CopySession): Promise<readonly Identity[]> {
  const rows = await session.ask(identitiesText);
  return rows.map(([table, column, sequence]) => ({
    ...{ table: String(table), column: String(column), sequence: String(sequence) },
  }));
}

/** The last id that each table has given, and how many ids of the ledger have no entry. */
export async function postgresCounters(session: CopySession): Promise<Counters> {
  const lastIds = new Map<string, string>();
  for (const { table, column, sequence } of await identitiesOf(session)) {
    if (column === rowNumber) continue;
    const [[last] = []] = await session.ask("select pg_sequence_last_value($1::regclass)", [sequence]);
    if (last !== null && last !== undefined) lastIds.set(table, last);
  }
  const [[gaps] = []] = await session.ask("select ids from ledger_gaps");
  return { lastIds, ledgerGaps: String(gaps) };
}
