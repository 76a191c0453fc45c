/** Imports of loads that are answered first and applied later, load by load (specification/gateway.md#load-imports). */
import { type SqlBool, sql } from "kysely";
import { numbersIn, unindexed } from "../database/dialects/sql-forms.ts";
import type { Fault } from "../../lib/errors.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";

export type NewImport = Omit<RowOf<"imports">, "id" | "finishedAt">;

/** Enters an import without its loads and returns its id. */
export async function insertImport(tx: Transaction, entry: NewImport): Promise<number> {
  const row = await tx
    .insertInto("imports")
    .values({
      guid: entry.guid,
      company_id: entry.companyId,
      service_name: entry.serviceName,
      user_name: entry.userName,
      received_at: entry.receivedAt,
      finished_at: null,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Which load of which import. */
export interface ItemKey {
  readonly importId: number;
  /** From 0. */
  readonly position: number;
}

/** `body`: the load as JSON text. */
type NewItem = ItemKey & { readonly loadNbr: string; readonly body: string };

/** Adds one load that waits to be applied. */
export const insertImportItem = prepareQuery<NewItem>((db, arg) =>
  db.insertInto("import_items").values({
    ...namedArguments(arg, "import_id", "position", "load_nbr", "body"),
    state: "waiting",
    reasons: "[]",
    decided_at: null,
  }),
).run;

export interface WaitingItem extends ItemKey {
  /** The id that the import was answered with. */
  readonly guid: string;
  readonly companyId: number;
  readonly loadNbr: string;
  readonly body: string;
}

/** Which of the loads that wait are listed. */
export interface WaitingItemsWanted {
  /** Those behind this one. */
  readonly after: ItemKey;
  readonly limit: number;
  /** Those of these companies; undefined for all. */
  readonly companies: ReadonlySet<number> | undefined;
}

/**
 * The next loads to be applied, in the order in which they came. Read from the index alone, where they are those of all
 * companies: a damaged page of the loads themselves is met by those that lie on it.
 */
export async function listWaitingItems(
  read: Reader,
  { after, limit, companies }: WaitingItemsWanted,
): Promise<readonly ItemKey[]> {
  const ids = numbersIn([...(companies ?? [])]);
  return await read
    .selectFrom("import_items")
    .select(namedColumns("import_id", "position"))
    .where("state", "=", sql.lit("waiting"))
    .where(sql<boolean>`(import_id, position) > (${after.importId}, ${after.position})`)
    .$if(companies !== undefined, (some) =>
      some.where("import_id", "in", (eb) =>
        eb
          .selectFrom("imports")
          .select("imports.id")
          .where("finished_at", "is", null)
          .where("company_id", "in", sql<number>`(select value from ${ids} as n)`),
      ),
    )
    .orderBy("import_id")
    .orderBy("position")
    .limit(limit)
    .execute();
}

export interface WaitingImports {
  readonly companyId: number;
  readonly imports: number;
  /** When the one of them came that came first, milliseconds UTC. */
  readonly oldestAt: number;
}

/**
 * How many imports of each company have loads that wait, and since when; companies without are left out. An import is
 * finished with its last load: the index of those that are not has one row for each.
 */
export async function countWaitingImports(read: Reader): Promise<readonly WaitingImports[]> {
  const rows = await read
    .selectFrom("imports")
    .select(({ fn }) => [
      "company_id",
      fn.countAll<number>().as("imports"),
      fn.min<number>("received_at").as("oldest_at"),
    ])
    .where("finished_at", "is", null)
    .groupBy("company_id")
    .execute();
  return rows.map(({ company_id, imports, oldest_at }) => ({
    ...{ companyId: company_id, imports: Number(imports), oldestAt: oldest_at },
  }));
}

/** A load with its text; undefined when it does not wait any more. */
export async function readWaitingItem(read: Reader, key: ItemKey): Promise<WaitingItem | undefined> {
  const row = await read
    .selectFrom("import_items")
    .innerJoin("imports", "imports.id", "import_items.import_id")
    .select(namedColumns("load_nbr", "body", "company_id", "guid"))
    .where("import_id", "=", key.importId)
    .where("position", "=", key.position)
    .where("import_items.state", "=", sql.lit("waiting"))
    .executeTakeFirst();
  return row === undefined ? undefined : { ...key, ...row, body: row.body ?? "" };
}

/** The loads of the import of the company that was entered last, in their order, as far as `limit`. */
export async function listItemsOfLastImport(
  tx: Transaction,
  companyId: number,
  limit: number,
): Promise<readonly Pick<WaitingItem, "position" | "loadNbr" | "body">[]> {
  const rows = await tx
    .selectFrom("import_items")
    .select(namedColumns("position", "load_nbr", "body"))
    .where("import_id", "=", (eb) =>
      eb
        .selectFrom("imports")
        .select("id")
        // The newest of all is this one, but for what other nodes enter at this moment.
        .where(sql<boolean>`${unindexed}company_id = ${companyId}`)
        .orderBy("id", "desc")
        .limit(1),
    )
    .orderBy("position")
    .limit(limit)
    .execute();
  return rows.map(({ body, ...row }) => ({ ...row, body: body ?? "" }));
}

/** Whose import it is; undefined when there is none. */
export async function companyOfImport(read: Reader, importId: number): Promise<number | undefined> {
  const row = await read
    .selectFrom("imports")
    .select("company_id")
    .where("id", "=", importId)
    .executeTakeFirst();
  return row?.company_id;
}

const itemState = prepareQuery<ItemKey, { state: string }>((db, arg) =>
  db
    .selectFrom("import_items")
    .select("state")
    .where("import_id", "=", arg("importId"))
    .where("position", "=", arg("position")),
);

/** Whether the load is still to be decided. */
export async function isItemWaiting(tx: Transaction, item: ItemKey): Promise<boolean> {
  return (await itemState.find(tx, item))?.state === "waiting";
}

interface Decision extends ItemKey {
  readonly state: "applied" | "refused";
  readonly reasons: string;
  readonly now: number;
}

const decideItem = prepareQuery<Decision>((db, arg) =>
  db
    .updateTable("import_items")
    .set({ state: arg("state"), reasons: arg("reasons"), body: null, decided_at: arg("now") })
    .where("import_id", "=", arg("importId"))
    .where("position", "=", arg("position"))
    .where("state", "=", "waiting"),
);

const finishImport = prepareQuery<{ importId: number; now: number }>((db, arg) =>
  db
    .updateTable("imports")
    .set({ finished_at: arg("now") })
    .where("id", "=", arg("importId"))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("import_items")
            .select("position")
            .where("import_items.import_id", "=", arg("importId"))
            .where("import_items.state", "=", sql.lit("waiting")),
        ),
      ),
    ),
);

/** Stores the result of a load and removes its text; the last one finishes the import. */
export async function decideImportItem(
  tx: Transaction,
  decision: Omit<Decision, "reasons"> & { readonly faults: readonly Fault[] },
): Promise<void> {
  const { importId, now } = decision;
  await decideItem.run(tx, { ...decision, reasons: JSON.stringify(decision.faults) });
  await finishImport.run(tx, { importId, now });
}

export interface ImportItem {
  readonly loadNbr: string;
  readonly state: "waiting" | "applied" | "refused";
  readonly faults: readonly Fault[];
}

export interface StoredImport extends Pick<RowOf<"imports">, "guid" | "receivedAt" | "finishedAt"> {
  readonly items: readonly ImportItem[];
}

/** The import of that GUID in its company, with its loads in their order; undefined when there is none. */
export async function findImport(
  read: Reader,
  companyId: number,
  guid: string,
): Promise<StoredImport | undefined> {
  const found = await read
    .selectFrom("imports")
    .select(namedColumns("id", "guid", "received_at", "finished_at"))
    .where("guid", "=", guid)
    .where("company_id", "=", companyId)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  // Its number counts over all companies.
  const { id, ...shown } = found;
  const rows = await read
    .selectFrom("import_items")
    .select(namedColumns("load_nbr", "state", "reasons"))
    .where("import_id", "=", id)
    .orderBy("position")
    .execute();
  const items = rows.map(({ reasons, ...row }) => ({
    ...row,
    faults: JSON.parse(reasons) as readonly Fault[],
  }));
  return { ...shown, items };
}

/** What became of a load in one import. */
export interface ImportOfLoad
  extends ImportItem,
    Pick<RowOf<"imports">, "id" | "guid" | "userName" | "receivedAt"> {
  readonly decidedAt: number | null;
}

/** The place of an import in the order of arrival. */
export type ImportPlace = Pick<RowOf<"imports">, "id" | "receivedAt">;

export interface ImportsOfLoadAsked {
  readonly companyId: number;
  readonly loadNbr: string;
  /** Only those that came before it. */
  readonly before?: ImportPlace | undefined;
  readonly limit: number;
}

/** The imports that had the load, the newest first. */
export async function listImportsOfLoad(
  read: Reader,
  { companyId, loadNbr, before, limit }: ImportsOfLoadAsked,
): Promise<readonly ImportOfLoad[]> {
  const ofLoad = read.selectFrom("import_items as item").where("item.load_nbr", "=", loadNbr);
  const from = before === undefined ? ofLoad : ofLoad.where("item.import_id", "<", before.id);
  const rows = await from
    .innerJoin("imports as i", "i.id", "item.import_id")
    .select(namedColumns("i.id", "i.guid", "i.user_name", "i.received_at", "item.load_nbr", "item.state"))
    .select(namedColumns("item.decided_at", "item.reasons"))
    // Else SQLite would go through all imports of the company instead.
    .where(sql<SqlBool>`${unindexed}i.company_id = ${companyId}`)
    .orderBy("item.import_id", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ reasons, ...row }) => ({ ...row, faults: JSON.parse(reasons) as readonly Fault[] }));
}
