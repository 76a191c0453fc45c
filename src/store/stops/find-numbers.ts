/** Stops, loads and orders by any number that people have of them, exactly, for the console: by an index each. */
import type { Reader } from "../database/database.ts";
import { namedColumns } from "../database/named-rows.ts";

export interface NumberAsked {
  readonly companyIds: readonly number[];
  /** Spellings of the number. */
  readonly numbers: readonly string[];
  /** Of each kind of number. */
  readonly limit: number;
}

const stopColumns = ["stop_nbr_key", "shipment_nbr", "bol", "seal_nbr", "reference1", "reference2"] as const;
const loadColumns = ["load_nbr", "reference", "seal_nbr"] as const;

function selectStops(read: Reader) {
  return read
    .selectFrom("stops as s")
    .leftJoin("loads as l", "l.id", "s.load_id")
    .select(["s.id as id", "s.stop_nbr as stopNbr", "s.stop_status as status", "l.load_nbr as loadNbr"])
    .select(namedColumns("s.company_id", "s.receive_status", "s.updated_at"));
}

/** Stops, each with the column by which it was found first. */
export async function findStopsByNumber(read: Reader, { companyIds, numbers, limit }: NumberAsked) {
  type Stop = Awaited<ReturnType<ReturnType<typeof selectStops>["execute"]>>[number];
  const found = new Map<number, Stop & { readonly by: (typeof stopColumns)[number] }>();
  for (const by of stopColumns) {
    const wanted = by === "stop_nbr_key" ? [...new Set(numbers.map((one) => one.toLowerCase()))] : numbers;
    const rows = await selectStops(read)
      .where("s.company_id", "in", [...companyIds])
      .where(`s.${by}`, "in", [...wanted])
      .limit(limit)
      .execute();
    for (const row of rows) if (!found.has(row.id)) found.set(row.id, { ...row, by });
  }
  return [...found.values()];
}

/** Loads, each with the column by which it was found first. */
export async function findLoadsByNumber(read: Reader, { companyIds, numbers, limit }: NumberAsked) {
  const found = new Map<number, { readonly by: (typeof loadColumns)[number] } & FoundRow>();
  for (const by of loadColumns) {
    const rows = await read
      .selectFrom("loads")
      .select(["id", "load_nbr as loadNbr", "load_status as status"])
      .select(namedColumns("company_id", "updated_at"))
      .where("company_id", "in", [...companyIds])
      .where(by, "in", [...numbers])
      .limit(limit)
      .execute();
    for (const row of rows) if (!found.has(row.id)) found.set(row.id, { ...row, by });
  }
  return [...found.values()];
}

interface FoundRow {
  readonly id: number;
  readonly loadNbr: string;
  readonly status: number;
  readonly companyId: number;
  readonly updatedAt: number;
}

/** Orders, with the status of the stop of the same number. */
export async function findOrdersByNumber(read: Reader, { companyIds, numbers, limit }: NumberAsked) {
  return await read
    .selectFrom("orders as o")
    .leftJoin("stops as s", (join) =>
      join.onRef("s.company_id", "=", "o.company_id").onRef("s.stop_nbr", "=", "o.order_nbr"),
    )
    .select(["o.order_nbr as orderNbr", "s.stop_status as stopStatus"])
    .select(namedColumns("o.company_id", "o.is_cancelled", "o.updated_at"))
    .where("o.company_id", "in", [...companyIds])
    .where("o.order_nbr", "in", [...numbers])
    .limit(limit)
    .execute();
}
