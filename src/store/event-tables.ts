/** The tables of what drivers report: events, positions, and how far a load has come. */
import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";
import { autoId } from "./sqlite-dialect.ts";

export async function createRouteReports(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("reported_events")
    .addColumn("id", "integer", autoId)
    .addColumn("load_id", "integer", (c) => c.notNull().references("loads.id"))
    .addColumn("stop_nbr", "text", (c) => c.notNull())
    .addColumn("event_code", "text", (c) => c.notNull())
    .addColumn("event_dttm", "text", (c) => c.notNull())
    .addColumn("event_tz", "text", (c) => c.notNull())
    .addColumn("latitude", "real")
    .addColumn("longitude", "real")
    .addColumn("reported_by", "text", (c) => c.notNull())
    .addColumn("received_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("reported_events_once", ["load_id", "stop_nbr", "event_code", "event_dttm"])
    .execute();
  await db.schema
    .createTable("positions")
    .addColumn("load_id", "integer", (c) => c.notNull().references("loads.id"))
    .addColumn("at", "bigint", (c) => c.notNull())
    .addColumn("event_dttm", "text", (c) => c.notNull())
    .addColumn("event_tz", "text", (c) => c.notNull())
    .addColumn("latitude", "real", (c) => c.notNull())
    .addColumn("longitude", "real", (c) => c.notNull())
    .addColumn("reported_by", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("positions_key", ["load_id", "at"])
    .execute();
  await db.schema
    .createTable("route_progress")
    .addColumn("load_id", "integer", (c) => c.primaryKey().notNull().references("loads.id"))
    .addColumn("at", "bigint", (c) => c.notNull())
    .addColumn("latitude", "real", (c) => c.notNull())
    .addColumn("longitude", "real", (c) => c.notNull())
    .addColumn("eta_at", "bigint")
    .execute();
}
