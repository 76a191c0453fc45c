/** Reads of loads. Writes are in `loads.ts`. */
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from "kysely";
import type { LoadStatus } from "../../domain/load/load-status.ts";
import { finalStopStatuses } from "../../domain/stop/stop-status.ts";
import type { Reader } from "../database/database.ts";
import { namedColumns } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import { eachBatch, type Page } from "../database/row-batches.ts";
import type { Tables } from "../database/schema.ts";
import type { LoadAssignmentRecord, LoadRecord } from "./loads.ts";

type ReadValue = "loadNbr" | "status" | "body" | "execution" | "extra" | "createdAt";

/** A load as it is stored; `body`, `execution` and `extra` are JSON text. */
export interface StoredLoad extends LoadAssignmentRecord, Pick<LoadRecord, ReadValue> {
  readonly id: number;
}

const loadColumns = [
  "load_status as status" as const,
  ...namedColumns("id", "load_nbr", "carrier_code", "assignment_criteria", "driver_user_id", "driver"),
  ...namedColumns("body", "execution", "extra", "created_at"),
];

/** A load, by its number in its company. */
export type LoadKey = Pick<LoadRecord, "companyId" | "loadNbr">;

/** The load of exactly that number in its company, in whatever state, or undefined. */
export const findStoredLoad = prepareQuery<LoadKey, StoredLoad>((db, arg) =>
  db
    .selectFrom("loads")
    .select(loadColumns)
    .where("company_id", "=", arg("companyId"))
    .where("load_nbr", "=", arg("loadNbr")),
).find;

export const findStoredLoadById = prepareQuery<{ id: number }, StoredLoad>((db, arg) =>
  db.selectFrom("loads").select(loadColumns).where("id", "=", arg("id")),
).find;

/** The loads of these ids, in no order. */
export async function findLoadsByIds(db: Reader, ids: readonly number[]): Promise<readonly StoredLoad[]> {
  return await db.selectFrom("loads").select(loadColumns).where("id", "in", ids).execute();
}

/** How many stops each of the loads has; a load without stops is not in it. */
export async function countStopsOfLoads(
  db: Reader,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("stops")
    .select((eb) => ["load_id", eb.fn.countAll<number>().as("count")])
    .where("load_id", "in", ids)
    .groupBy("load_id")
    .execute();
  return new Map(rows.map(({ load_id, count }) => [load_id ?? 0, Number(count)]));
}

/** How many stops of a load nothing more happens to. */
export async function countFinalStops(db: Reader, loadId: number): Promise<number> {
  const row = await db
    .selectFrom("stops")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("load_id", "=", loadId)
    .where("stop_status", "in", [...finalStopStatuses])
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Which loads of a company; without statuses, cancelled ones are left out. */
export interface LoadSelection {
  readonly companyId: number;
  readonly loadNbrs?: readonly string[];
  readonly references?: readonly string[];
  readonly statuses?: readonly LoadStatus[];
}

function isSelected(
  eb: ExpressionBuilder<Tables, "loads">,
  { companyId, loadNbrs, references, statuses }: LoadSelection,
): ExpressionWrapper<Tables, "loads", SqlBool> {
  const conditions = [eb("company_id", "=", companyId)];
  if (loadNbrs !== undefined) conditions.push(eb("load_nbr", "in", loadNbrs));
  if (references !== undefined) conditions.push(eb("reference", "in", references));
  conditions.push(statuses === undefined ? eb("load_status", "!=", 99) : eb("load_status", "in", statuses));
  return eb.and(conditions);
}

/** How many loads the selection has. */
export async function countLoads(db: Reader, selection: LoadSelection): Promise<number> {
  const row = await db
    .selectFrom("loads")
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .where((eb) => isSelected(eb, selection))
    .executeTakeFirst();
  return Number(row?.total ?? 0);
}

/** The selection, or a page of it, by age and in batches. */
export function eachLoadBatch(
  db: Reader,
  selection: LoadSelection,
  page: Page,
): AsyncGenerator<readonly StoredLoad[]> {
  return eachBatch(
    {
      start: 0,
      async sizes(after, { limit, offset }) {
        const rows = await db
          .selectFrom("loads")
          .select((eb) => ["id", eb.fn<number>("octet_length", ["body"]).as("bytes")])
          .where((eb) => isSelected(eb, selection))
          .where("id", ">", Number(after))
          .orderBy("id")
          .limit(limit)
          .offset(offset)
          .execute();
        return rows.map(({ id, bytes }) => ({ id, key: id, bytes }));
      },
      async rows(ids) {
        const query = db.selectFrom("loads").select(loadColumns).where("id", "in", ids);
        return await query.orderBy("id").execute();
      },
    },
    page,
  );
}
