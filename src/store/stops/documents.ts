/** The register of the document store: which company has which document, by its GUID. The content is in files. */
import { sql } from "kysely";
import type { KeptDocument } from "../../domain/documents/document-content.ts";
import { greater } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";

interface DocumentArguments extends KeptDocument {
  readonly companyId: number;
  readonly now: number;
}

const insertDocument = prepareQuery<DocumentArguments>((db, arg) =>
  db
    .insertInto("documents")
    .values({
      ...namedArguments(arg, "company_id", "guid", "sha256", "size", "name"),
      created_at: arg("now"),
    })
    .onConflict((conflict) =>
      conflict.columns(["company_id", "guid"]).doUpdateSet((eb) => ({
        // A clock that is behind makes nothing older.
        created_at: sql<number>`${greater}(${eb.ref("documents.created_at")}, ${arg("now")})`,
      })),
    ),
);

/** Enters the documents of a change; one that the company has already counts as new by its age. */
export async function saveDocuments(
  tx: Transaction,
  entry: { readonly companyId: number; readonly documents: readonly KeptDocument[]; readonly now: number },
): Promise<void> {
  const { companyId, now } = entry;
  for (const document of entry.documents) await insertDocument.run(tx, { ...document, companyId, now });
}

export interface StoredDocument extends KeptDocument {
  /** When it came, milliseconds UTC. */
  readonly createdAt: number;
}

/** The company's document of that GUID, or undefined. */
export async function findDocument(
  read: Reader,
  companyId: number,
  guid: string,
): Promise<StoredDocument | undefined> {
  return await read
    .selectFrom("documents")
    .select(["guid", "sha256", "size", "name", "created_at as createdAt"])
    .where("company_id", "=", companyId)
    .where("guid", "=", guid)
    .executeTakeFirst();
}

/** Which of these contents any company has, some hundred at a time. */
export async function findKnownContents(
  read: Reader,
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await read
    .selectFrom("documents")
    .select("sha256")
    .distinct()
    .where("sha256", "in", hashes)
    .execute();
  return new Set(rows.map(({ sha256 }) => sha256));
}
