/**
 * Appointments and what the slots of a region have in use.
 *
 *   confirmed ──rescheduled, order or stop deleted──> released
 *   held ──reserved again with its order: that one is confirmed──> released
 *     \──after its time──> expired
 *
 * The sums of a slot change with each of these steps, in the same transaction. A hold whose time is over counts no more
 * from that moment on, also before anybody has marked it: whoever reads the sums takes it off.
 */
import { type ExpressionBuilder, sql } from "kysely";
import { addShares, noShare, subtractShares } from "../../domain/appointments/appointment-capacity.ts";
import type { Share } from "../../domain/appointments/appointment-capacity.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";

/** A slot of a company. */
export interface SlotPlace {
  readonly companyId: number;
  readonly region: string;
  /** `YYYY-MM-DDThh:mm`. */
  readonly slotKey: string;
}

/** Local times as they are written to the order. Of appointments from before they were kept, the end and the zone may be unknown. */
export interface AppointmentTimes {
  readonly timeFrom: string | null;
  readonly timeTo: string | null;
  readonly timeZone: string | null;
}

export interface StoredAppointment extends SlotPlace, AppointmentTimes {
  readonly id: number;
  readonly share: Share;
}

const thousandths = 1_000;

/** The columns of a share but for the count of appointments, which is one in a row of its own. */
interface AmountRow {
  quantity: number;
  weight: number;
  volume: number;
  service_minutes: number;
}

interface AppointmentRow extends AmountRow, AppointmentTimes {
  id: number;
  region: string;
  slot_key: string;
}

interface UseRow extends AmountRow {
  slot_key: string;
  appointments: number;
}

function shareOf(row: AmountRow, appointments: number): Share {
  const { quantity, weight, volume, service_minutes: serviceMinutes } = row;
  return { appointments, quantity, weight, volume, serviceMinutes };
}

function storedAppointment(companyId: number, row: AppointmentRow): StoredAppointment {
  const { id, region, slot_key: slotKey, timeFrom, timeTo, timeZone } = row;
  const share = shareOf(row, thousandths);
  return { id, companyId, region, slotKey, timeFrom, timeTo, timeZone, share };
}

const addUseQuery = prepareQuery<SlotPlace & Share>((db, arg) =>
  db
    .insertInto("appointment_use")
    .values({
      company_id: arg("companyId"),
      region: arg("region"),
      slot_key: arg("slotKey"),
      appointments: arg("appointments"),
      quantity: arg("quantity"),
      weight: arg("weight"),
      volume: arg("volume"),
      service_minutes: arg("serviceMinutes"),
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

async function addUse(
  tx: Transaction,
  { companyId, region, slotKey }: SlotPlace,
  share: Share,
): Promise<void> {
  await addUseQuery.run(tx, { companyId, region, slotKey, ...share });
}

async function removeUse(tx: Transaction, place: SlotPlace, share: Share): Promise<void> {
  await addUse(tx, place, subtractShares(noShare, share));
}

interface RangeArguments {
  readonly companyId: number;
  readonly region: string;
  readonly firstKey: string;
  readonly lastKey: string;
}

const useQuery = prepareQuery<RangeArguments, UseRow>((db, arg) =>
  db
    .selectFrom("appointment_use")
    .select(["slot_key", "appointments", "quantity", "weight", "volume", "service_minutes"])
    .where("company_id", "=", arg("companyId"))
    .where("region", "=", arg("region"))
    .where("slot_key", ">=", arg("firstKey"))
    .where("slot_key", "<=", arg("lastKey")),
);

interface DueRow extends UseRow {
  holds: number;
}

/** Built anew for each query that selects them. */
function dueSums(pick: ExpressionBuilder<Tables, "appointments">) {
  return [
    sql<number>`count(*) * ${sql.lit(thousandths)}`.as("appointments"),
    pick.fn.countAll<number>().as("holds"),
    pick.fn.sum<number>("quantity").as("quantity"),
    pick.fn.sum<number>("weight").as("weight"),
    pick.fn.sum<number>("volume").as("volume"),
    pick.fn.sum<number>("service_minutes").as("service_minutes"),
  ] as const;
}

interface DueArguments {
  readonly companyId: number;
  readonly region: string;
  readonly now: number;
}

// The state stands in the text of the query: only so does SQLite use an index over holds. It takes the one by time,
// because holds that are over are few; with a range of slots it would go through those that are not.
const dueQuery = prepareQuery<DueArguments, DueRow>((db, arg) =>
  db
    .selectFrom("appointments")
    .select("slot_key")
    .select(dueSums)
    .where("state", "=", sql.lit("held"))
    .where("company_id", "=", arg("companyId"))
    .where("expires_at", "<=", arg("now"))
    .where("region", "=", arg("region"))
    .groupBy("slot_key"),
);

export interface SlotUse {
  /** By the key of the slot; one that is not there has nothing in use. */
  readonly byKey: ReadonlyMap<string, Share>;
  /** Holds whose time is over and that nobody has marked yet. */
  readonly dueHolds: number;
}

/** What is in use at `now` (milliseconds UTC) in the slots of a region from one key to another, both included. */
export async function findSlotUse(
  read: Reader | Transaction,
  range: RangeArguments & { readonly now: number },
): Promise<SlotUse> {
  const byKey = new Map<string, Share>();
  for (const row of (await useQuery.run(read, range)).rows)
    byKey.set(row.slot_key, shareOf(row, row.appointments));
  let dueHolds = 0;
  for (const row of (await dueQuery.run(read, range)).rows) {
    dueHolds += row.holds;
    const used = byKey.get(row.slot_key) ?? noShare;
    byKey.set(row.slot_key, subtractShares(used, shareOf(row, row.appointments)));
  }
  return { byKey, dueHolds };
}

type DueInSlot = Omit<DueRow, "slot_key">;

/**
 * By slot and not by time, however many holds elsewhere are over: the sign keeps SQLite from the index by time, which it
 * takes for the better one.
 */
const dueInSlotQuery = prepareQuery<SlotPlace & { readonly now: number }, DueInSlot>((db, arg) =>
  db
    .selectFrom("appointments")
    .select(dueSums)
    .where("state", "=", sql.lit("held"))
    .where("company_id", "=", arg("companyId"))
    .where("region", "=", arg("region"))
    .where("slot_key", "=", arg("slotKey"))
    .where(sql<number>`+${sql.ref("expires_at")}`, "<=", arg("now")),
);

/** What is in use in one slot. */
export async function findUseOfSlot(tx: Transaction, place: SlotPlace, now: number): Promise<Share> {
  const { companyId, region, slotKey } = place;
  const range = { companyId, region, firstKey: slotKey, lastKey: slotKey };
  const [row] = (await useQuery.run(tx, range)).rows;
  const [due] = (await dueInSlotQuery.run(tx, { companyId, region, slotKey, now })).rows;
  const used = row === undefined ? noShare : shareOf(row, row.appointments);
  // Sums over no rows are null.
  return due === undefined || due.holds === 0 ? used : subtractShares(used, shareOf(due, due.appointments));
}

interface ExpireArguments {
  readonly companyId: number;
  readonly now: number;
  /** Most holds that are marked. */
  readonly limit: number;
}

type ExpiredRow = Omit<AppointmentRow, keyof AppointmentTimes>;

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
    .returning(["id", "region", "slot_key", "quantity", "weight", "volume", "service_minutes"]),
);

/** Marks holds whose time is over, the oldest first. Nothing depends on it but how much there is to read. */
export async function expireHolds(tx: Transaction, wanted: ExpireArguments): Promise<void> {
  const { companyId } = wanted;
  const freed = new Map<string, { place: SlotPlace; share: Share }>();
  for (const row of (await expireQuery.run(tx, wanted)).rows) {
    const place = { companyId, region: row.region, slotKey: row.slot_key };
    const name = `${row.slot_key}${row.region}`;
    const before = freed.get(name)?.share ?? noShare;
    freed.set(name, { place, share: addShares(before, shareOf(row, thousandths)) });
  }
  for (const { place, share } of freed.values()) await removeUse(tx, place, share);
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
  return (await anyDueQuery.run(read, due)).rows.length > 0;
}

const columns = [
  ...(["id", "region", "slot_key", "quantity", "weight", "volume", "service_minutes"] as const),
  ...(["time_from as timeFrom", "time_to as timeTo", "time_zone as timeZone"] as const),
] as const;

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
  const row = (await appointmentQuery.run(read, { companyId, orderNbr })).rows[0];
  return row === undefined ? undefined : storedAppointment(companyId, row);
}

const appointmentsOfLoad = prepareQuery<
  { companyId: number; loadId: number },
  AppointmentRow & { order_nbr: string | null }
>((db, arg) =>
  db
    .selectFrom("appointments")
    .select(columns)
    .select("order_nbr")
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
  const { rows } = await appointmentsOfLoad.run(read, { companyId, loadId });
  return new Map(rows.map((row) => [row.order_nbr ?? "", storedAppointment(companyId, row)]));
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
  const row = (await holdQuery.run(tx, wanted)).rows[0];
  return row === undefined ? undefined : storedAppointment(wanted.companyId, row);
}

const releaseQuery = prepareQuery<{ id: number; now: number }>((db, arg) =>
  db
    .updateTable("appointments")
    .set({ state: "released", expires_at: null, updated_at: arg("now") })
    .where("id", "=", arg("id"))
    .where("state", "in", ["held", "confirmed"]),
);

/** Gives the share of a held or confirmed appointment back. */
export async function releaseShare(tx: Transaction, stored: StoredAppointment, now: number): Promise<void> {
  const { affected } = await releaseQuery.run(tx, { id: stored.id, now });
  if (affected === 1) await removeUse(tx, stored, stored.share);
}

/** An appointment as it is to be kept: of an order, or held until `expiresAt`. */
export interface NewAppointment extends SlotPlace, AppointmentTimes {
  readonly startsAt: number;
  readonly orderNbr: string | null;
  readonly addressKey: string | null;
  readonly expiresAt: number | null;
  readonly share: Share;
  readonly now: number;
}

type InsertArguments = Omit<NewAppointment, "share"> & Share & { readonly state: string };

const insertQuery = prepareQuery<InsertArguments>((db, arg) =>
  db.insertInto("appointments").values({
    company_id: arg("companyId"),
    region: arg("region"),
    slot_key: arg("slotKey"),
    starts_at: arg("startsAt"),
    time_from: arg("timeFrom"),
    time_to: arg("timeTo"),
    time_zone: arg("timeZone"),
    order_nbr: arg("orderNbr"),
    address_key: arg("addressKey"),
    state: arg("state"),
    quantity: arg("quantity"),
    weight: arg("weight"),
    volume: arg("volume"),
    service_minutes: arg("serviceMinutes"),
    expires_at: arg("expiresAt"),
    created_at: arg("now"),
    updated_at: arg("now"),
  }),
);

/** Keeps an appointment and takes its share. Whether there is room has been asked in the same transaction. */
export async function insertAppointment(tx: Transaction, appointment: NewAppointment): Promise<void> {
  const { share, ...rest } = appointment;
  const state = appointment.orderNbr === null ? "held" : "confirmed";
  await insertQuery.run(tx, { ...rest, ...share, state });
  await addUse(tx, appointment, share);
}
