/** Reads of stops for hosts: one stop by number, and filtered lists. Writes are in `stops.ts`. */
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from "kysely";
import { cancelledStopStatus } from "../../domain/stop/stop-status.ts";
import type { Reader } from "../database/database.ts";
import { namedColumns } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import { eachBatch, type Page } from "../database/row-batches.ts";
import type { Tables } from "../database/schema.ts";
import type { StopKey, StopRecord } from "./stops.ts";

type ReceiptValue = "receiveStatus" | "receiveDttm";
type AssignmentValue = "carrierCode" | "assignmentCriteria";

/** A stop as it is stored. `body` and `execution` are JSON text; columns of their own have precedence. */
export type StoredStop = Pick<
  StopRecord,
  "stopNbr" | "status" | ReceiptValue | AssignmentValue | "body" | "execution" | "loadId"
>;

export const stopColumns = [
  "stop_status as status" as const,
  ...namedColumns("stop_nbr", "receive_status", "receive_dttm", "carrier_code", "assignment_criteria"),
  ...namedColumns("body", "execution", "load_id"),
];

/** The stop of exactly that number in its company, in whatever state, or undefined. */
export const findStoredStop = prepareQuery<StopKey, StoredStop>((db, arg) =>
  db
    .selectFrom("stops")
    .select(stopColumns)
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
).find;

const filterColumns = {
  stopNbr: "stop_nbr",
  status: "stop_status",
  shipmentNbr: "shipment_nbr",
  sealNbr: "seal_nbr",
  bol: "bol",
  reference1: "reference1",
  reference2: "reference2",
} as const;

/** Fields with an index: those with a column of their own, and the number of the load that the stop is on. */
export type IndexedStopField = keyof typeof filterColumns | "loadNbr";

export const indexedStopFields: ReadonlySet<string> = new Set(Object.keys(filterColumns));

/** Which stops of a company: every named field must have one of its values; without a status, cancelled ones are left out. */
export interface StopSelection {
  readonly companyId: number;
  readonly fields: Readonly<Partial<Record<IndexedStopField, readonly string[]>>>;
}

/** Without reading it. */
function bytesOf(eb: StopExpressions, column: "body" | "execution") {
  return eb.fn<number>("octet_length", [column]);
}

type StopExpressions = ExpressionBuilder<Tables, "stops">;

function isSelected(
  eb: StopExpressions,
  selection: StopSelection,
): ExpressionWrapper<Tables, "stops", SqlBool> {
  const conditions = [eb("company_id", "=", selection.companyId)];
  let field: keyof typeof filterColumns;
  for (field in filterColumns) {
    const values = selection.fields[field];
    if (values !== undefined) conditions.push(eb(filterColumns[field], "in", values));
  }
  const { loadNbr } = selection.fields;
  if (loadNbr !== undefined) {
    conditions.push(
      eb("load_id", "in", (sub) =>
        sub
          .selectFrom("loads")
          .select("loads.id")
          .where("loads.company_id", "=", selection.companyId)
          .where("loads.load_nbr", "in", loadNbr),
      ),
    );
  }
  if (selection.fields.status === undefined) conditions.push(eb("stop_status", "!=", cancelledStopStatus));
  return eb.and(conditions);
}

/** How many stops the selection has. */
export async function countStops(db: Reader, selection: StopSelection): Promise<number> {
  const row = await db
    .selectFrom("stops")
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .where((eb) => isSelected(eb, selection))
    .executeTakeFirst();
  return Number(row?.total ?? 0);
}

/**
 * The order of a list. Without a filter that has an index it is by stop number, which has the index of the unique key.
 * With one it is by age, because every index ends with the row's id: the planner would rather walk all stops of the
 * company by number than sort the few that the filter finds.
 */
function orderOf(selection: StopSelection): "id" | "stop_nbr" {
  return Object.keys(selection.fields).length > 0 ? "id" : "stop_nbr";
}

/** The selection, or a page of it, in batches. */
export function eachStopBatch(
  db: Reader,
  selection: StopSelection,
  page: Page,
): AsyncGenerator<readonly StoredStop[]> {
  const order = orderOf(selection);
  return eachBatch(
    {
      start: order === "id" ? 0 : "",
      async sizes(after, { limit, offset }) {
        const rows = await db
          .selectFrom("stops")
          .select((eb) => [
            "id",
            order,
            bytesOf(eb, "body").as("body"),
            bytesOf(eb, "execution").as("execution"),
          ])
          .where((eb) => isSelected(eb, selection))
          .where(order, ">", after)
          .orderBy(order)
          .limit(limit)
          .offset(offset)
          .execute();
        return rows.map((row) => ({ id: row.id, key: row[order], bytes: row.body + row.execution }));
      },
      async rows(ids) {
        const query = db.selectFrom("stops").select(stopColumns).where("id", "in", ids);
        return await query.orderBy(order).execute();
      },
    },
    page,
  );
}
