/**
 * What a transaction locks before it writes: first the row of the site, then those of the companies, in the order of their
 * ids. So no two wait for one another. Row locks alone: they go wherever the rows of a company do.
 */
import type { Owner } from "../owner.ts";
import type { SessionQuery } from "./postgres-session.ts";

/** A row that every database has. References to a company do not wait for `no key update`. */
const site = "select 1 from meta where key = 'schema' for no key update";
const everyCompany = "select 1 from companies order by id for no key update";
const someCompanies = "select 1 from companies where id = any($1) order by id for no key update";

function locking(rows: string, name: string, values: readonly unknown[] = []): SessionQuery {
  const text = `select count(*), pg_current_xact_id()::text as transaction from (${rows}) locked`;
  return { text, values, name };
}

/** The statements that lock what units of these owners write, in this order; each gives the number of the `transaction`. */
export function locksOf(owners: readonly Owner[]): readonly SessionQuery[] {
  const isOfAll = owners.includes("site");
  const companyIds = [...new Set(owners.filter((owner) => typeof owner === "number"))];
  const queries: SessionQuery[] = [];
  if (isOfAll || owners.includes("unowned")) queries.push(locking(site, "lock_site"));
  if (isOfAll) queries.push(locking(everyCompany, "lock_all"));
  else if (companyIds.length > 0) queries.push(locking(someCompanies, "lock_some", [companyIds]));
  return queries;
}
