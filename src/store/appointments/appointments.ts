/** Appointments, and the use of the slots of a region, as rows. `operations/consequences` keeps the two together. */
import { type ExpressionBuilder, sql } from "kysely";
import type { Share } from "../../domain/appointments/appointment-capacity.ts";
import { unindexed } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";

/** A slot of a company. */
export interface SlotPlace {
  readonly companyId: number;
  readonly region: string;
  /** `YYYY-MM-DDThh:mm`. */
  readonly slotKey: string;
}

/** Local times as they are written to the order. End and zone of appointments of earlier versions may be unknown. */
export type AppointmentTimes = Pick<RowOf<"appointments">, "timeFrom" | "timeTo" | "timeZone">;

export interface StoredAppointment extends SlotPlace, AppointmentTimes {
  readonly id: number;
  readonly share: Share;
}

const thousandths = 1_000;

/** A share but for the count of appointments, which is one in a row of its own. */
type Amounts = Omit<Share, "appointments">;

const amountColumns = namedColumns("quantity", "weight", "volume", "service_minutes");

type AppointmentRow = Omit<StoredAppointment, "companyId" | "share"> & Amounts;

function storedAppointment(companyId: number, row: AppointmentRow): StoredAppointment {
  const { quantity, weight, volume, serviceMinutes, ...rest } = row;
  return {
    ...rest,
    companyId,
    share: { appointments: thousandths, quantity, weight, volume, serviceMinutes },
  };
}

const addUseQuery = prepareQuery<SlotPlace & Share>((db, arg) =>
  db
    .insertInto("appointment_use")
    .values({
      ...namedArguments(arg, "company_id", "region", "slot_key", "appointments"),
      ...namedArguments(arg, "quantity", "weight", "volume", "service_minutes"),
    })
    .onConflict((conflict) =>
      conflict.columns(["company_id", "region", "slot_key"]).doUpdateSet((set) => ({
        appointments: set("appointment_use.appointments", "+", set.ref("excluded.appointments")),
        quantity: set("appointment_use.quantity", "+", set.ref("excluded.quantity")),
        weight: set("appointment_use.weight", "+", set.ref("excluded.weight")),
        volume: set("appointment_use.volume", "+", set.ref("excluded.volume")),
        service_minutes: set("appointment_use.service_minutes", "+", set.ref("excluded.service_minutes")),
      })),
    ),
);

/** Changes what a slot has in use; a negative share releases. */
export async function addUse(
  tx: Transaction,
  { companyId, region, slotKey }: SlotPlace,
  share: Share,
): Promise<void> {
  await addUseQuery.run(tx, { companyId, region, slotKey, ...share });
}

export interface SlotRange {
  readonly companyId: number;
  readonly region: string;
  readonly firstKey: string;
  readonly lastKey: string;
}

const useQuery = prepareQuery<SlotRange, { readonly slotKey: string } & Share>((db, arg) =>
  db
    .selectFrom("appointment_use")
    .select(["slot_key as slotKey", "appointments", ...amountColumns])
    .where("company_id", "=", arg("companyId"))
    .where("region", "=", arg("region"))
    .where("slot_key", ">=", arg("firstKey"))
    .where("slot_key", "<=", arg("lastKey")),
);

/** The stored use of a slot, including holds that are over and not marked yet. */
export interface SlotUse {
  readonly slotKey: string;
  readonly used: Share;
}

/** The stored use of the slots from one key to another, both included. */
export async function listSlotUse(read: Reader | Transaction, range: SlotRange): Promise<readonly SlotUse[]> {
  return (await useQuery.rows(read, range)).map(({ slotKey, ...used }) => ({ slotKey, used }));
}

interface DueRow extends Share {
  readonly holds: number;
}

function dueSums(pick: ExpressionBuilder<Tables, "appointments">) {
  return [
    sql<number>`count(*) * ${sql.lit(thousandths)}`.as("appointments"),
    pick.fn.countAll<number>().as("holds"),
    pick.fn.sum<number>("quantity").as("quantity"),
    pick.fn.sum<number>("weight").as("weight"),
    pick.fn.sum<number>("volume").as("volume"),
    pick.fn.sum<number>("service_minutes").as("serviceMinutes"),
  ] as const;
}

interface DueArguments {
  readonly companyId: number;
  readonly region: string;
  readonly now: number;
}

// The state is a literal in the query: only then does SQLite use an index over holds. It takes the one by time, because
// holds that are over are few; with a range of slots it would go through those that are not.
const dueQuery = prepareQuery<DueArguments, DueRow & { readonly slotKey: string }>((db, arg) =>
  db
    .selectFrom("appointments")
    .select("slot_key as slotKey")
    .select(dueSums)
    .where("state", "=", sql.lit("held"))
    .where("company_id", "=", arg("companyId"))
    .where("expires_at", "<=", arg("now"))
    .where("region", "=", arg("region"))
    .groupBy("slot_key"),
);

/** Holds of a slot whose time is over and that nobody has marked yet. */
export interface DueHolds {
  readonly slotKey: string;
  readonly count: number;
  readonly share: Share;
}

/** All of a region, by slot. */
export async function listDueHolds(
  read: Reader | Transaction,
  { companyId, region, now }: DueArguments,
): Promise<readonly DueHolds[]> {
  const rows = await dueQuery.rows(read, { companyId, region, now });
  return rows.map(({ slotKey, holds: count, ...share }) => ({ slotKey, count, share }));
}

/**
 * By slot and not by time, however many holds elsewhere are over: the sign keeps SQLite from the index by time, which it
 * would prefer.
 */
const dueInSlotQuery = prepareQuery<SlotPlace & { readonly now: number }, DueRow>((db, arg) =>
  db
    .selectFrom("appointments")
    .select(dueSums)
    .where("state", "=", sql.lit("held"))
    .where("company_id", "=", arg("companyId"))
    .where("region", "=", arg("region"))
    .where("slot_key", "=", arg("slotKey"))
    .where(sql<number>`${unindexed}${sql.ref("expires_at")}`, "<=", arg("now")),
);

/** Those of one slot; undefined when there are none. */
export async function findDueHolds(
  tx: Transaction,
  { companyId, region, slotKey }: SlotPlace,
  now: number,
): Promise<DueHolds | undefined> {
  const due = await dueInSlotQuery.find(tx, { companyId, region, slotKey, now });
  // Sums over no rows are null.
  if (due === undefined || due.holds === 0) return undefined;
  const { holds: count, ...share } = due;
  return { slotKey, count, share };
}

export interface ExpireArguments {
  readonly companyId: number;
  readonly now: number;
  /** Most holds that are marked. */
  readonly limit: number;
}

type ExpiredRow = Pick<SlotPlace, "region" | "slotKey"> & Amounts;

const expireQuery = prepareQuery<ExpireArguments, ExpiredRow>((db, arg) =>
  db
    .updateTable("appointments")
    .set({ state: "expired", updated_at: arg("now") })
    .where("id", "in", (from) =>
      from
        .selectFrom("appointments")
        .select("id")
        .where("state", "=", sql.lit("held"))
        .where("company_id", "=", arg("companyId"))
        .where("expires_at", "<=", arg("now"))
        .orderBy("expires_at")
        .limit(arg("limit")),
    )
    .returning(["region", "slot_key as slotKey", ...amountColumns]),
);

/** The share of an appointment, and where it was taken. */
export interface PlacedShare {
  readonly place: SlotPlace;
  readonly share: Share;
}

/** Marks holds whose time is over, the oldest first, and returns what they took, which the caller gives back. */
export async function markExpired(tx: Transaction, due: ExpireArguments): Promise<readonly PlacedShare[]> {
  const { companyId } = due;
  return (await expireQuery.rows(tx, due)).map(({ region, slotKey, ...amounts }) => ({
    place: { companyId, region, slotKey },
    share: { appointments: thousandths, ...amounts },
  }));
}

const anyDueQuery = prepareQuery<Omit<ExpireArguments, "limit">, { id: number }>((db, arg) =>
  db
    .selectFrom("appointments")
    .select("id")
    .where("state", "=", sql.lit("held"))
    .where("company_id", "=", arg("companyId"))
    .where("expires_at", "<=", arg("now"))
    .limit(1),
);

/** Whether there are holds whose time is over and that nobody has marked yet. */
export async function hasDueHolds(read: Reader, due: Omit<ExpireArguments, "limit">): Promise<boolean> {
  return (await anyDueQuery.find(read, due)) !== undefined;
}

const columns = [
  ...amountColumns,
  ...namedColumns("id", "region", "slot_key", "time_from", "time_to", "time_zone"),
];

const appointmentQuery = prepareQuery<{ companyId: number; orderNbr: string }, AppointmentRow>((db, arg) =>
  db
    .selectFrom("appointments")
    .select(columns)
    .where("state", "=", sql.lit("confirmed"))
    .where("company_id", "=", arg("companyId"))
    .where("order_nbr", "=", arg("orderNbr")),
);

/** The appointment of an order or stop, undefined when it has none. */
export async function findAppointment(
  read: Reader | Transaction,
  companyId: number,
  orderNbr: string,
): Promise<StoredAppointment | undefined> {
  return await appointmentQuery.first(read, { companyId, orderNbr }, (row) =>
    storedAppointment(companyId, row),
  );
}

const appointmentsOfLoad = prepareQuery<
  { companyId: number; loadId: number },
  AppointmentRow & { readonly orderNbr: string | null }
>((db, arg) =>
  db
    .selectFrom("appointments")
    .select(columns)
    .select("order_nbr as orderNbr")
    .where("state", "=", sql.lit("confirmed"))
    .where("company_id", "=", arg("companyId"))
    .where("order_nbr", "in", (from) =>
      from.selectFrom("stops").select("stop_nbr").where("load_id", "=", arg("loadId")),
    ),
);

/** The appointments of the stops on a load, by the number of the stop. */
export async function findAppointmentsOfLoad(
  read: Reader,
  companyId: number,
  loadId: number,
): Promise<ReadonlyMap<string, StoredAppointment>> {
  const rows = await appointmentsOfLoad.rows(read, { companyId, loadId });
  return new Map(rows.map(({ orderNbr, ...row }) => [orderNbr ?? "", storedAppointment(companyId, row)]));
}

interface HoldArguments extends SlotPlace {
  readonly addressKey: string;
  readonly now: number;
}

const holdQuery = prepareQuery<HoldArguments, AppointmentRow>((db, arg) =>
  db
    .selectFrom("appointments")
    .select(columns)
    .where("state", "=", sql.lit("held"))
    .where("company_id", "=", arg("companyId"))
    .where("address_key", "=", arg("addressKey"))
    .where("region", "=", arg("region"))
    .where("slot_key", "=", arg("slotKey"))
    .where("expires_at", ">", arg("now"))
    .orderBy("id")
    .limit(1),
);

/** The oldest hold of the address in the slot whose time is not over. */
export async function findHold(
  tx: Transaction,
  wanted: HoldArguments,
): Promise<StoredAppointment | undefined> {
  return await holdQuery.first(tx, wanted, (row) => storedAppointment(wanted.companyId, row));
}

/** Marks a held or confirmed appointment as released; false when it was neither. The caller gives back what it took. */
export const markReleased = prepareQuery<{ id: number; now: number }>((db, arg) =>
  db
    .updateTable("appointments")
    .set({ state: "released", expires_at: null, updated_at: arg("now") })
    .where("id", "=", arg("id"))
    .where("state", "in", ["held", "confirmed"]),
).changes;

/** An appointment as it is to be kept: of an order, or held until `expiresAt`. */
export interface NewAppointment
  extends SlotPlace,
    AppointmentTimes,
    Pick<RowOf<"appointments">, "startsAt" | "orderNbr" | "addressKey" | "expiresAt"> {
  readonly state: "held" | "confirmed";
  readonly share: Share;
  readonly now: number;
}

type InsertArguments = Omit<NewAppointment, "share"> & Share;

const insertQuery = prepareQuery<InsertArguments>((db, arg) =>
  db.insertInto("appointments").values({
    ...namedArguments(arg, "company_id", "region", "slot_key", "starts_at", "time_from", "time_to"),
    ...namedArguments(arg, "time_zone", "order_nbr", "address_key", "state", "expires_at"),
    ...namedArguments(arg, "quantity", "weight", "volume", "service_minutes"),
    created_at: arg("now"),
    updated_at: arg("now"),
  }),
);

/** Keeps an appointment; the caller takes its share. */
export async function insertAppointment(tx: Transaction, appointment: NewAppointment): Promise<void> {
  const { share, ...rest } = appointment;
  await insertQuery.run(tx, { ...rest, ...share });
}
