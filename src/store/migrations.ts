/**
 * Numbered migrations, forward only, one transaction each. A database that is newer than the code is refused.
 * Never change one that has been released: add the next.
 */
import { type Kysely, sql } from "kysely";
import { killPoint } from "../lib/kill-point.ts";
import { createAppointments } from "./appointment-tables.ts";
import { createRouteReports } from "./event-tables.ts";
import { createMessages } from "./message-tables.ts";
import { createOutboundTables } from "./outbound-tables.ts";
import { createRemoteTables } from "./remote-tables.ts";
import type { Tables } from "./schema.ts";
import { autoId } from "./sqlite-dialect.ts";

type Migration = (db: Kysely<Tables>) => Promise<void>;

/** An index over the rows of a company that have the value: those without cost it nothing. */
async function createPartialIndex(db: Kysely<Tables>, table: keyof Tables, column: string): Promise<void> {
  await db.schema
    .createIndex(`${table}_by_${column}`)
    .on(table)
    .columns(["company_id", column])
    .where(sql.ref(column), "is not", null)
    .execute();
}

async function createAccounts(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("companies")
    .addColumn("id", "integer", autoId)
    .addColumn("code", "text", (c) => c.notNull())
    .addColumn("code_key", "text", (c) => c.notNull().unique())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("users")
    .addColumn("id", "integer", autoId)
    .addColumn("user_name", "text", (c) => c.notNull())
    .addColumn("password_hash", "text")
    .addColumn("is_enabled", "integer", (c) => c.notNull())
    .addColumn("must_change_password", "integer", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("users_by_name").on("users").column("user_name").execute();
  await db.schema
    .createTable("user_keys")
    .addColumn("id", "integer", autoId)
    .addColumn("user_id", "integer", (c) => c.notNull().references("users.id"))
    .addColumn("key_type", "text", (c) => c.notNull())
    .addColumn("key_blob", "text", (c) => c.notNull())
    .addColumn("comment", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("user_keys_once", ["user_id", "key_blob"])
    .execute();
}

async function createMemberships(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("memberships")
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("user_id", "integer", (c) => c.notNull().references("users.id"))
    .addColumn("user_name", "text", (c) => c.notNull())
    .addColumn("roles", "text", (c) => c.notNull())
    .addColumn("profile", "text", (c) => c.notNull())
    .addColumn("email", "text")
    .addColumn("cdl_number", "text")
    .addColumn("full_name", "text")
    .addPrimaryKeyConstraint("memberships_key", ["company_id", "user_id"])
    .addUniqueConstraint("memberships_name", ["company_id", "user_name"])
    .execute();
  await db.schema.createIndex("memberships_by_user").on("memberships").column("user_id").execute();
  for (const column of ["email", "cdl_number", "full_name"])
    await createPartialIndex(db, "memberships", column);
  await db.schema
    .createTable("user_carriers")
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("partner_code", "text", (c) => c.notNull())
    .addColumn("user_id", "integer", (c) => c.notNull().references("users.id"))
    .addPrimaryKeyConstraint("user_carriers_key", ["company_id", "partner_code", "user_id"])
    .execute();
}

async function createPartners(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("partners")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("partner_code", "text", (c) => c.notNull())
    .addColumn("partner_type", "text")
    .addColumn("body", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("partners_code", ["company_id", "partner_code"])
    .execute();
}

async function createStops(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("stops")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("stop_nbr", "text", (c) => c.notNull())
    .addColumn("stop_nbr_key", "text", (c) => c.notNull())
    .addColumn("stop_status", "text", (c) => c.notNull())
    .addColumn("receive_status", "text", (c) => c.notNull())
    .addColumn("receive_dttm", "text")
    .addColumn("carrier_code", "text")
    .addColumn("assignment_criteria", "text")
    .addColumn("shipment_nbr", "text")
    .addColumn("seal_nbr", "text")
    .addColumn("bol", "text")
    .addColumn("reference1", "text")
    .addColumn("reference2", "text")
    .addColumn("body", "text", (c) => c.notNull())
    .addColumn("routed", "text")
    .addColumn("execution", "text", (c) => c.notNull())
    .addColumn("file_time", "bigint")
    .addColumn("load_id", "integer", (c) => c.references("loads.id"))
    .addColumn("load_position", "integer")
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("stops_number", ["company_id", "stop_nbr"])
    .execute();
  for (const column of ["stop_nbr_key", "stop_status"]) {
    await db.schema.createIndex(`stops_by_${column}`).on("stops").columns(["company_id", column]).execute();
  }
  for (const column of ["shipment_nbr", "seal_nbr", "bol", "reference1", "reference2"]) {
    await createPartialIndex(db, "stops", column);
  }
  await db.schema
    .createIndex("stops_by_load")
    .on("stops")
    .columns(["load_id", "load_position"])
    .where(sql.ref("load_id"), "is not", null)
    .execute();
}

async function createLoads(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("loads")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("load_nbr", "text", (c) => c.notNull())
    .addColumn("load_status", "integer", (c) => c.notNull())
    .addColumn("carrier_code", "text")
    .addColumn("assignment_criteria", "text")
    .addColumn("driver_user_id", "integer", (c) => c.references("users.id"))
    .addColumn("driver", "text", (c) => c.notNull())
    .addColumn("reference", "text")
    .addColumn("seal_nbr", "text")
    .addColumn("body", "text", (c) => c.notNull())
    .addColumn("extra", "text", (c) => c.notNull())
    .addColumn("execution", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("loads_number", ["company_id", "load_nbr"])
    .execute();
  await db.schema.createIndex("loads_by_status").on("loads").columns(["company_id", "load_status"]).execute();
  for (const column of ["driver_user_id", "reference", "seal_nbr"]) {
    await createPartialIndex(db, "loads", column);
  }
}

async function createOrdersAndCustomers(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("orders")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("order_nbr", "text", (c) => c.notNull())
    .addColumn("body", "text", (c) => c.notNull())
    .addColumn("is_cancelled", "integer", (c) => c.notNull())
    .addColumn("cancellation", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("orders_number", ["company_id", "order_nbr"])
    .execute();
  await db.schema
    .createTable("customers")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("account_number", "text", (c) => c.notNull())
    .addColumn("body", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("customers_number", ["company_id", "account_number"])
    .execute();
}

async function createImports(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("imports")
    .addColumn("id", "integer", autoId)
    .addColumn("guid", "text", (c) => c.notNull().unique())
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("service_name", "text", (c) => c.notNull())
    .addColumn("user_name", "text", (c) => c.notNull())
    .addColumn("received_at", "bigint", (c) => c.notNull())
    .addColumn("finished_at", "bigint")
    .execute();
  await db.schema
    .createIndex("imports_by_age")
    .on("imports")
    .columns(["company_id", "received_at"])
    .execute();
  await db.schema
    .createTable("import_items")
    .addColumn("import_id", "integer", (c) => c.notNull().references("imports.id"))
    .addColumn("position", "integer", (c) => c.notNull())
    .addColumn("load_nbr", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("body", "text")
    .addColumn("reasons", "text", (c) => c.notNull())
    .addColumn("decided_at", "bigint")
    .addPrimaryKeyConstraint("import_items_key", ["import_id", "position"])
    .execute();
  await db.schema
    .createIndex("import_items_waiting")
    .on("import_items")
    .columns(["import_id", "position"])
    .where(sql.ref("state"), "=", sql.lit("waiting"))
    .execute();
}

async function createDocuments(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("documents")
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("guid", "text", (c) => c.notNull())
    .addColumn("sha256", "text", (c) => c.notNull())
    .addColumn("size", "bigint", (c) => c.notNull())
    .addColumn("name", "text")
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("documents_key", ["company_id", "guid"])
    .execute();
  await db.schema.createIndex("documents_by_sha256").on("documents").column("sha256").execute();
}

async function createRecordedEvents(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("recorded_events")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("stop_nbr", "text")
    .addColumn("load_nbr", "text")
    .addColumn("event_code", "integer", (c) => c.notNull())
    .addColumn("recorded_at", "bigint", (c) => c.notNull())
    .addColumn("data", "text", (c) => c.notNull())
    .execute();
  for (const column of ["stop_nbr", "load_nbr"]) await createPartialIndex(db, "recorded_events", column);
}

async function createFiles(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("files")
    .addColumn("id", "integer", autoId)
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("name_time", "bigint")
    .addColumn("sha256", "text")
    .addColumn("size", "bigint", (c) => c.notNull())
    .addColumn("channel", "text", (c) => c.notNull())
    .addColumn("user_name", "text")
    .addColumn("received_at", "bigint", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("stop_function", "text")
    .addColumn("stop_nbr", "text")
    .addColumn("document_id", "text")
    .addColumn("reasons", "text", (c) => c.notNull())
    .addColumn("records_created", "integer", (c) => c.notNull())
    .addColumn("records_updated", "integer", (c) => c.notNull())
    .addColumn("records_deleted", "integer", (c) => c.notNull())
    .addColumn("decided_at", "bigint")
    .addColumn("source", "text", (c) => c.notNull())
    .addColumn("location", "text", (c) => c.notNull())
    .addColumn("is_filed", "integer", (c) => c.notNull())
    .addColumn("first_id", "integer")
    .addColumn("removed_at", "bigint")
    .addColumn("removed_by", "text")
    .execute();
  await db.schema.createIndex("files_by_name").on("files").columns(["company_id", "name"]).execute();
  await db.schema.createIndex("files_by_location").on("files").column("location").execute();
  await db.schema
    .createIndex("files_by_stop")
    .on("files")
    .columns(["company_id", "stop_nbr"])
    .where(sql.ref("stop_nbr"), "is not", null)
    .execute();
  // The work that is left is a small part of a ledger of years.
  await db.schema
    .createIndex("files_open")
    .on("files")
    .columns(["state", "id"])
    .where(sql.ref("is_filed"), "=", sql.lit(0))
    .execute();
}

/** The key serves the only question: which files name this stop? */
async function createFileStops(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("file_stops")
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("stop_nbr", "text", (c) => c.notNull())
    .addColumn("file_id", "integer", (c) => c.notNull().references("files.id"))
    .addPrimaryKeyConstraint("file_stops_key", ["company_id", "stop_nbr", "file_id"])
    .execute();
}

const migrations: readonly Migration[] = [
  async (db) => {
    await createAccounts(db);
    await createMemberships(db);
    await createPartners(db);
    await createLoads(db);
    await createStops(db);
    await createOrdersAndCustomers(db);
    await createImports(db);
    await createDocuments(db);
    await createRecordedEvents(db);
    await createRouteReports(db);
    await createOutboundTables(db);
    await createMessages(db);
    await createAppointments(db);
    await createFiles(db);
    await createFileStops(db);
    await createRemoteTables(db);
  },
];

async function readVersion(db: Kysely<Tables>): Promise<number> {
  await db.schema
    .createTable("meta")
    .ifNotExists()
    .addColumn("key", "text", (c) => c.primaryKey().notNull())
    .addColumn("value", "text", (c) => c.notNull())
    .execute();
  const row = await db.selectFrom("meta").select("value").where("key", "=", "schema").executeTakeFirst();
  return Number(row?.value ?? 0);
}

/** Brings the schema up to date. Rejects when the database was written by a newer dropgate. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const version = await readVersion(db);
  killPoint("migrate.begun");
  if (version > migrations.length) {
    throw new Error(
      `the database has schema ${version}, this dropgate knows ${migrations.length}: install the newer version again`,
    );
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    await db.transaction().execute(async (tx) => {
      await migration(tx);
      killPoint("migrate.stepDone");
      const value = String(index + 1);
      await tx
        .insertInto("meta")
        .values({ key: "schema", value })
        .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
        .execute();
    });
  }
}
