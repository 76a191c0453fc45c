/** The tables of appointments: each one, and the sums of each slot, so that a listing need not add them up. */
import { type Kysely, sql } from "kysely";
import type { Tables } from "./schema.ts";
import { autoId } from "./sqlite-dialect.ts";

/** Appointments that are over. The condition of an index: SQLite takes it only for the very same words. */
export const overStates = sql<boolean>`state in ('released', 'expired')`;

const amounts = ["quantity", "weight", "volume", "service_minutes"] as const;

async function createUse(db: Kysely<Tables>): Promise<void> {
  let table = db.schema
    .createTable("appointment_use")
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("region", "text", (c) => c.notNull())
    .addColumn("slot_key", "text", (c) => c.notNull())
    .addColumn("appointments", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("appointment_use_key", ["company_id", "region", "slot_key"]);
  for (const column of amounts) table = table.addColumn(column, "bigint", (c) => c.notNull());
  await table.execute();
}

export async function createAppointments(db: Kysely<Tables>): Promise<void> {
  let table = db.schema
    .createTable("appointments")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("region", "text", (c) => c.notNull())
    .addColumn("slot_key", "text", (c) => c.notNull())
    .addColumn("starts_at", "bigint", (c) => c.notNull())
    .addColumn("order_nbr", "text")
    .addColumn("address_key", "text")
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("expires_at", "bigint")
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull());
  for (const column of amounts) table = table.addColumn(column, "bigint", (c) => c.notNull());
  await table.execute();
  // An order has one appointment at most, whatever the code believes.
  await db.schema
    .createIndex("appointments_by_order")
    .unique()
    .on("appointments")
    .columns(["company_id", "order_nbr"])
    .where(sql.ref("state"), "=", sql.lit("confirmed"))
    .execute();
  await db.schema
    .createIndex("appointments_held")
    .on("appointments")
    .columns(["company_id", "expires_at"])
    .where(sql.ref("state"), "=", sql.lit("held"))
    .execute();
  await db.schema
    .createIndex("appointments_held_in_slot")
    .on("appointments")
    .columns(["company_id", "region", "slot_key", "address_key", "expires_at"])
    .where(sql.ref("state"), "=", sql.lit("held"))
    .execute();
  await db.schema
    .createIndex("appointments_over")
    .on("appointments")
    .columns(["company_id", "updated_at"])
    .where(overStates)
    .execute();
  await createUse(db);
}
