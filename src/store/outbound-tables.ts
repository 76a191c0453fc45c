/** The tables of what goes out: targets, completions, deliveries and exports (decisions 8). */
import type { Kysely } from "kysely";
import { isInState, isOpen } from "./delivery-states.ts";
import type { DeliveriesTable } from "./outbound-rows.ts";
import type { Tables } from "./schema.ts";
import { autoId } from "./sqlite-dialect.ts";

export async function createOutboundTables(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("outbound_targets")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("takes_completions", "integer", (c) => c.notNull())
    .addColumn("is_configured", "integer", (c) => c.notNull())
    .addColumn("failures", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("paused_until", "bigint", (c) => c.notNull().defaultTo(0))
    .addColumn("open_count", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("added_count", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("dead_count", "integer", (c) => c.notNull().defaultTo(0))
    .addUniqueConstraint("outbound_targets_name", ["company_id", "name"])
    .execute();
  await db.schema
    .createTable("outbound_events")
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("causes", "text", (c) => c.notNull())
    .addColumn("event_code", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("outbound_events_key", ["company_id", "causes", "event_code"])
    .execute();
  await db.schema
    .createTable("outbound_settings")
    .addColumn("company_id", "integer", (c) => c.primaryKey().notNull().references("companies.id"))
    .addColumn("embeds_documents", "integer", (c) => c.notNull())
    .execute();
  await createCompletions(db);
  await createDeliveries(db);
  await createDeliveryIndexes(db);
  await createExports(db);
}

async function createCompletions(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("completions")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("stop_nbr", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("format", "integer", (c) => c.notNull())
    .addColumn("embeds_documents", "integer", (c) => c.notNull())
    .addColumn("trigger_code", "integer", (c) => c.notNull())
    .addColumn("first_event_id", "integer", (c) => c.notNull())
    .addColumn("last_event_id", "integer", (c) => c.notNull())
    .addColumn("stop_status", "text", (c) => c.notNull())
    .addColumn("carrier_code", "text")
    .addColumn("assignment_criteria", "text")
    .addColumn("body", "text", (c) => c.notNull())
    .addColumn("execution", "text", (c) => c.notNull())
    .addColumn("load_nbr", "text")
    .addColumn("driver", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("completions_name", ["company_id", "name"])
    .execute();
  await db.schema
    .createIndex("completions_stop")
    .on("completions")
    .columns(["company_id", "stop_nbr"])
    .execute();
  // For the windows of exports.
  await db.schema.createIndex("completions_order").on("completions").columns(["company_id", "id"]).execute();
}

async function createDeliveries(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("deliveries")
    .addColumn("id", "integer", autoId)
    .addColumn("guid", "text", (c) => c.notNull().unique())
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("target_id", "integer", (c) => c.notNull().references("outbound_targets.id"))
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("subject_id", "integer", (c) => c.notNull())
    .addColumn("order_key", "text", (c) => c.notNull())
    .addColumn("line_nbr", "integer", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("due_at", "bigint", (c) => c.notNull())
    .addColumn("attempts", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("first_attempt_at", "bigint")
    .addColumn("last_attempt_at", "bigint")
    .addColumn("delivered_at", "bigint")
    .addColumn("fault", "text")
    .addColumn("fault_text", "text")
    .addColumn("sha256", "text")
    .addColumn("size", "bigint")
    .addColumn("collected_at", "bigint")
    .addColumn("collected_by", "text")
    .addColumn("removed_at", "bigint")
    .addColumn("removed_by", "text")
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("delivery_attempts")
    .addColumn("id", "integer", autoId)
    .addColumn("delivery_id", "integer", (c) => c.notNull().references("deliveries.id"))
    .addColumn("at", "bigint", (c) => c.notNull())
    .addColumn("duration_ms", "integer", (c) => c.notNull())
    .addColumn("fault", "text", (c) => c.notNull())
    .addColumn("fault_text", "text", (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex("delivery_attempts_delivery")
    .on("delivery_attempts")
    .columns(["delivery_id"])
    .execute();
}

/**
 * What is done leaves the indexes of the queue, so that they are as large as what is open, and a page of them costs the
 * same with many rows waiting as with few.
 */
async function createDeliveryIndexes(db: Kysely<Tables>): Promise<void> {
  const on = (name: string, columns: readonly (keyof DeliveriesTable)[]) =>
    db.schema
      .createIndex(`deliveries_${name}`)
      .on("deliveries")
      .columns([...columns]);
  const isWaiting = isInState("state", "waiting");
  await on("due", ["target_id", "due_at", "id"]).where(isWaiting).execute();
  await on("line", ["target_id", "order_key", "line_nbr", "id"]).where(isOpen("state")).execute();
  await on("oldest", ["target_id", "id"]).where(isOpen("state")).execute();
  await on("dead", ["target_id", "id"]).where(isInState("state", "dead")).execute();
  await on("subject", ["kind", "subject_id"]).execute();
  await on("name", ["company_id", "name"]).execute();
}

async function createExports(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("export_schedules")
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("schedule", "text", (c) => c.notNull())
    .addColumn("next_due_at", "bigint")
    .addColumn("watermark", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("export_schedules_key", ["company_id", "name"])
    .execute();
  await db.schema
    .createTable("exports")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("sequence_nbr", "integer", (c) => c.notNull())
    .addColumn("after_completion_id", "integer", (c) => c.notNull())
    .addColumn("last_completion_id", "integer", (c) => c.notNull())
    .addColumn("form", "text", (c) => c.notNull())
    .addColumn("due_at", "bigint")
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("exports_sequence", ["company_id", "name", "sequence_nbr"])
    .execute();
}
