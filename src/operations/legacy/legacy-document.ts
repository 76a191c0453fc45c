/** Get document (specification/legacy-services.md#documents): finds the file of a document that the company has. */
import { stat } from "node:fs/promises";
import { readGuid } from "../../domain/documents/document-content.ts";
import { contentPath } from "../../lib/files/content-store.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { Reader } from "../../store/database/database.ts";
import { findDocument } from "../../store/stops/documents.ts";
import type { DocumentsDeps } from "../imports/take-out-documents.ts";

export interface LegacyDocumentDeps extends DocumentsDeps {
  readonly store: { readonly read: Reader };
}

export interface LegacyDocumentQuery {
  readonly companyId: number;
  /** As it came, in any case. */
  readonly guid: string;
}

/** A document and where its content is. */
export interface LegacyDocument {
  readonly path: string;
  readonly guid: string;
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  readonly name: string | null;
}

/**
 * The document, whose file is there. Throws 923 when the text is no GUID or the company has no such document, and an error
 * of our own when its file is missing or not whole.
 */
export async function findLegacyDocument(
  deps: LegacyDocumentDeps,
  query: LegacyDocumentQuery,
): Promise<LegacyDocument> {
  const guid = readGuid(query.guid);
  const document =
    guid === undefined ? undefined : await findDocument(deps.store.read, query.companyId, guid);
  if (document === undefined) {
    const shown = query.guid.slice(0, 60);
    throw new DropgateError(
      "documentNotFound",
      `there is no document ${shown}. Use the reference of a document object of this company.`,
    );
  }
  const path = contentPath(deps.documentsDir, document.sha256);
  const { size } = await stat(path);
  if (size !== document.size) throw new Error(`${path} has ${size} bytes instead of ${document.size}`);
  return { ...document, path };
}
