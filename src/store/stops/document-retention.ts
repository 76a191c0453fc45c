/** Documents that are old, and those that something still needs, as rows. Each query is answered by an index. */
import { type RawBuilder, sql } from "kysely";
import { finalLoadStatuses, loadStatusNames } from "../../domain/load/load-status.ts";
import { finalStopStatuses, stopStatusNames } from "../../domain/stop/stop-status.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import type { ItemKey } from "./imports.ts";

/** A place in the order of ages, or of changes. */
export interface Place {
  /** Milliseconds UTC. */
  readonly at: number;
  readonly id: number;
}

export const firstPlace: Place = { at: 0, id: 0 };

export interface OldDocument extends Pick<RowOf<"documents">, "guid" | "size" | "createdAt"> {
  readonly id: number;
}

interface Page {
  readonly companyId: number;
  /** Where the page before this one has ended; 0 for the first. */
  readonly afterId: number;
  readonly limit: number;
}

interface PlacedPage extends Pick<Page, "companyId" | "limit"> {
  readonly after: Place;
}

/** Those of a company that came before a time (milliseconds UTC), page by page, the oldest first. */
export async function listOldDocuments(
  read: Reader,
  { companyId, before, after, limit }: PlacedPage & { readonly before: number },
): Promise<readonly OldDocument[]> {
  const id = sql<number>`documents.rowid`;
  return await read
    .selectFrom("documents")
    .select(namedColumns("guid", "size", "created_at"))
    .select(id.as("id"))
    .where("company_id", "=", companyId)
    .where("created_at", "<", before)
    .where(sql<boolean>`(created_at, rowid) > (${after.at}, ${after.id})`)
    .orderBy("created_at")
    .orderBy(id)
    .limit(limit)
    .execute();
}

/** Removes those that have not come again meanwhile; gives their GUIDs. */
export async function removeDocuments(
  tx: Transaction,
  { companyId, guids, before }: Pick<Page, "companyId"> & { guids: readonly string[]; before: number },
): Promise<ReadonlySet<string>> {
  const gone = await tx
    .deleteFrom("documents")
    .where("company_id", "=", companyId)
    .where("guid", "in", guids)
    .where("created_at", "<", before)
    .returning("guid")
    .execute();
  return new Set(gone.map(({ guid }) => guid));
}

/** A load of an import that waits to be applied, of any company. */
export interface WaitingLoad extends ItemKey {
  readonly companyId: number;
}

/**
 * Loads behind `after` that wait, in the order in which they came, with their companies. No index has them by company: a
 * page is a number of those of all, and only their keys, so that it is short whoever's they are.
 */
export async function listWaitingLoads(
  read: Reader,
  after: ItemKey,
  limit: number,
): Promise<readonly WaitingLoad[]> {
  // The order of a cross join is kept: from what waits to its import, and never over the imports of years.
  const query = sql<WaitingLoad>`select w.import_id as "importId", w.position as position, i.company_id as "companyId"
    from import_items as w cross join imports as i
    where w.state = 'waiting' and (w.import_id, w.position) > (${after.importId}, ${after.position})
      and i.id = w.import_id
    order by w.import_id, w.position limit ${limit}`;
  return (await query.execute(read)).rows;
}

/** The newest import of all companies; 0 when there is none. */
export async function findLastImport(read: Reader): Promise<number> {
  const row = await read
    .selectFrom("imports")
    .select((eb) => eb.fn.max("id").as("last"))
    .executeTakeFirst();
  return row?.last ?? 0;
}

/** Open stops or loads in one state, whose JSON may name documents: nothing that is over is read, nothing sorted. */
export interface OpenRows {
  readonly from: RawBuilder<unknown>;
  readonly text: RawBuilder<string>;
  readonly isInState: RawBuilder<boolean>;
}

const openStopStatuses = Object.keys(stopStatusNames).filter(
  (status) => !(finalStopStatuses as readonly string[]).includes(status),
);
const openLoadStatuses = Object.keys(loadStatusNames).filter(
  (status) => !finalLoadStatuses.some((over) => String(over) === status),
);

const textOfStop = sql<string>`body || ' ' || execution`;
const textOfLoad = sql<string>`body || ' ' || extra || ' ' || execution`;

export const openRows: readonly OpenRows[] = [
  ...openStopStatuses.map((status) => ({
    from: sql`stops`,
    text: textOfStop,
    isInState: sql<boolean>`stop_status = ${sql.lit(status)}`,
  })),
  ...openLoadStatuses.map((status) => ({
    from: sql`loads`,
    text: textOfLoad,
    isInState: sql<boolean>`load_status = ${sql.lit(Number(status))}`,
  })),
];

/**
 * What the open ones name, as text; empty of one that has not changed since a time, milliseconds UTC. No index has the time
 * of the last change: each event of a driver would pay for it. So a page is a number of open rows, changed or not.
 */
export async function listOpenTexts(
  read: Reader,
  { from, text, isInState }: OpenRows,
  { companyId, afterId, limit, since }: Page & { readonly since: number },
): Promise<readonly { readonly id: number; readonly text: string }[]> {
  const changed = since === 0 ? text : sql`case when updated_at >= ${since} then ${text} else '' end`;
  const query = sql<{ id: number; text: string }>`select id, ${changed} as text from ${from}
    where company_id = ${companyId} and ${isInState} and id > ${afterId}
    order by id limit ${limit}`;
  return (await query.execute(read)).rows;
}

/** What may name a document, and where it was in the order of changes. */
export interface PlacedText extends Place {
  readonly text: string;
}

const final = sql.join(finalStopStatuses.map((status) => sql.lit(status)));

/** Orders of a company in the order of their changes, with what those name that are not over. */
export async function listOrderTexts(
  read: Reader,
  { companyId, after, limit }: PlacedPage,
): Promise<readonly PlacedText[]> {
  const query = sql<PlacedText>`select o.id as id, o.updated_at as at,
      case when o.is_cancelled = 0 and (s.id is null or s.stop_status not in (${final})) then o.body else '' end as text
    from orders as o left join stops as s on s.company_id = o.company_id and s.stop_nbr = o.order_nbr
    where o.company_id = ${companyId} and (o.updated_at, o.id) > (${after.at}, ${after.id})
    order by o.updated_at, o.id limit ${limit}`;
  return (await query.execute(read)).rows;
}

/** Completions that take the content of their documents in each time that they are made. */
export async function listEmbeddingCompletions(
  read: Reader,
  { companyId, afterId, limit }: Page,
): Promise<readonly number[]> {
  const rows = await read
    .selectFrom("completions")
    .select("id")
    .where("company_id", "=", companyId)
    // A literal, not a parameter: only then does SQLite see that the partial index serves.
    .where("embeds_documents", "=", sql.lit(1))
    .where("id", ">", afterId)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** The newest completion of a company; 0 when there is none. */
export async function findLastCompletion(read: Reader, companyId: number): Promise<number> {
  const row = await read
    .selectFrom("completions")
    .select((eb) => eb.fn.max("id").as("last"))
    .where("company_id", "=", companyId)
    .executeTakeFirst();
  return row?.last ?? 0;
}

/** A delivery that is not over, of a completion or an export. */
export interface OpenWork {
  readonly id: number;
  readonly subjectId: number;
  /** The completions of an export: those after one and up to another. */
  readonly window: { readonly afterId: number; readonly lastId: number } | undefined;
}

type ListOpenWork = (afterId: number, limit: number) => Promise<readonly OpenWork[]>;

/** Two conditions, each that of an index by target. */
const openStates = [sql<boolean>`d.state in ('waiting', 'behind')`, sql<boolean>`d.state = 'dead'`];

/** Lists of what is not over, by the company's targets: what waits and what is dead apart. */
export async function listOpenWork(read: Reader, companyId: number): Promise<readonly ListOpenWork[]> {
  const targets = await read
    .selectFrom("outbound_targets")
    .select("id")
    .where("company_id", "=", companyId)
    .execute();
  return targets.flatMap(({ id }) =>
    openStates.map((isOpen): ListOpenWork => {
      return (afterId, limit) => listOpenOf(read, { targetId: id, isOpen, afterId, limit });
    }),
  );
}

async function listOpenOf(
  read: Reader,
  page: { targetId: number; isOpen: RawBuilder<boolean>; afterId: number; limit: number },
): Promise<readonly OpenWork[]> {
  const rows = await read
    .selectFrom("deliveries as d")
    .leftJoin("exports as e", (join) =>
      join.onRef("e.id", "=", "d.subject_id").on("d.kind", "=", sql.lit("export")),
    )
    .select(["d.id", "d.subject_id as subjectId", "e.after_completion_id as afterId"])
    .select("e.last_completion_id as lastId")
    .where("d.target_id", "=", page.targetId)
    .where(page.isOpen)
    .where("d.kind", "in", ["completion", "export"])
    .where("d.id", ">", page.afterId)
    .orderBy("d.id")
    .limit(page.limit)
    .execute();
  return rows.map(({ id, subjectId, afterId, lastId }) => ({
    ...{ id, subjectId },
    window: afterId === null || lastId === null ? undefined : { afterId, lastId },
  }));
}
