/** The table of what was taken from remotes. */
import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";

export async function createRemoteTables(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable("remote_files")
    .addColumn("company_id", "integer", (c) => c.notNull().references("companies.id"))
    .addColumn("remote", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("size", "bigint", (c) => c.notNull())
    .addColumn("modified", "text", (c) => c.notNull())
    .addColumn("sha256", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("after_file_id", "bigint", (c) => c.notNull())
    .addColumn("noted_at", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("remote_files_key", ["company_id", "remote", "name"])
    .execute();
}
