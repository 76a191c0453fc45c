/** Which companies have any rows that could be old: the others need no queries, table by table. */
import { sql } from "kysely";
import type { Reader } from "../database/database.ts";

async function companiesWith(read: Reader, tables: readonly string[]): Promise<ReadonlySet<number>> {
  const isIn = (table: string) =>
    sql`exists (select 1 from ${sql.table(table)} as t where t.company_id = c.id)`;
  const query = sql<{
    id: number;
  }>`select c.id from companies as c where ${sql.join(tables.map(isIn), sql` or `)}`;
  return new Set((await query.execute(read)).rows.map(({ id }) => id));
}

/** Those to whom, or to whose customers, something was to be sent. */
export function companiesWithDeliveries(read: Reader): Promise<ReadonlySet<number>> {
  return companiesWith(read, ["completions", "exports", "messages", "message_etas"]);
}

/** Those with appointments, or with imports. */
export function companiesWithRecords(read: Reader): Promise<ReadonlySet<number>> {
  return companiesWith(read, ["appointments", "imports"]);
}
