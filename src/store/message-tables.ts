/** The tables of customer messages. */
import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";
import { autoId } from "./sqlite-dialect.ts";

export async function createMessages(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("messages")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("stop_nbr", "text", (c) => c.notNull())
    .addColumn("event_code", "integer", (c) => c.notNull())
    .addColumn("channel", "text", (c) => c.notNull())
    .addColumn("address", "text", (c) => c.notNull())
    .addColumn("facts", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex("messages_by_stop")
    .on("messages")
    .columns(["company_id", "stop_nbr"])
    .execute();
  await db.schema
    .createTable("message_plans")
    .addColumn("company_id", "integer", (c) => c.primaryKey().notNull().references("companies.id"))
    .addColumn("plan", "text", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("message_etas")
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("stop_nbr", "text", (c) => c.notNull())
    .addColumn("load_id", "integer", (c) => c.notNull())
    .addColumn("eta_at", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("message_etas_key", ["company_id", "stop_nbr"])
    .execute();
  await db.schema
    .createTable("message_opt_outs")
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("address_key", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("message_opt_outs_key", ["company_id", "address_key"])
    .execute();
}
