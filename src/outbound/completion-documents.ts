/** Contents of documents for completion files that embed them, from the document store. */
import { readFile } from "node:fs/promises";
import { contentPath } from "../lib/files/content-store.ts";
import { isMissing } from "../lib/errors.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { StoredCompletion } from "../store/outbound/completions.ts";
import type { Reader } from "../store/database/database.ts";
import { findDocument } from "../store/stops/documents.ts";

export interface DocumentReaderDeps {
  readonly store: { readonly read: Reader };
  /** `<stateDir>/documents`. */
  readonly documentsDir: string;
  readonly log: Logger;
}

/** Gives the content of a document of the completion by its GUID; undefined when it is lost. Rejects when it cannot be read now. */
export type ReadCompletionDocument = (
  stored: StoredCompletion,
  guid: string,
) => Promise<Uint8Array | undefined>;

/** Logs a content that is lost, and leaves it out: the file about the stop is worth more than its picture. */
export function createDocumentReader({
  store,
  documentsDir,
  log,
}: DocumentReaderDeps): ReadCompletionDocument {
  return async ({ companyId, stopNbr }, guid) => {
    const fields = { companyId, stop: stopNbr, document: guid };
    const found = await findDocument(store.read, companyId, guid);
    if (found === undefined) {
      log.warn(fields, "a document of a completion file is not in the register; it is left out");
      return undefined;
    }
    try {
      return await readFile(contentPath(documentsDir, found.sha256));
    } catch (error) {
      // What cannot be read now may be read at the next attempt, which must have the same bytes.
      if (!isMissing(error)) throw error;
      log.error({ ...fields, err: error }, "the content of a document is missing; it is left out");
      return undefined;
    }
  };
}
