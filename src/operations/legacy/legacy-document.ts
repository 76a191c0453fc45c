/** Get document (specification/legacy-services.md#documents): finds the file of a document that the company has. */
import { stat } from "node:fs/promises";
import { type KeptDocument, readGuid } from "../../domain/documents/document-content.ts";
import { contentPath } from "../../lib/files/content-store.ts";
import { DropgateError } from "../../lib/errors.ts";
import { findDocument } from "../../store/stops/documents.ts";
import type { DocumentsDeps } from "../imports/take-out-documents.ts";
import type { ReadDeps } from "../operation-deps.ts";

export interface LegacyDocumentDeps extends DocumentsDeps, ReadDeps {}

export interface LegacyDocumentQuery {
  readonly companyId: number;
  /** As it came, in any case. */
  readonly guid: string;
}

/** A document and where its content is. */
export interface LegacyDocument extends KeptDocument {
  readonly path: string;
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
