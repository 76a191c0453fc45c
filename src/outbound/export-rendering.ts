/** How the files of exports are written: each completion as in the file that is delivered of it by itself. */
import { type ExportedCompletion, renderExportDocument } from "../documents/writing/export-document.ts";
import { renderExportManifest } from "../documents/writing/export-manifest.ts";
import { renderStopCompletion } from "../documents/writing/stop-completion-writer.ts";
import type { StoredCompletion } from "../store/outbound/completions.ts";
import type { ReadCompletionDocument } from "./completion-documents.ts";
import type { ExportRendering } from "./export-files.ts";
import { stopCompletionOf } from "./stop-completion-of.ts";

/** What the document says of one completion; contents are embedded as in the file of its own. */
function exported(stored: StoredCompletion, readDocument: ReadCompletionDocument): ExportedCompletion {
  return {
    completion: stopCompletionOf(stored),
    ...(stored.embedsDocuments ? { readDocument: (guid: string) => readDocument(stored, guid) } : {}),
  };
}

async function* exportedOf(
  completions: AsyncIterable<StoredCompletion>,
  readDocument: ReadCompletionDocument,
): AsyncGenerator<ExportedCompletion> {
  for await (const stored of completions) yield exported(stored, readDocument);
}

export function createExportRendering(readDocument: ReadCompletionDocument): ExportRendering {
  return {
    async completion(stored, companyCode) {
      const { completion, ...options } = exported(stored, readDocument);
      return await renderStopCompletion(completion, { ...options, companyCode });
    },
    document: (head, completions) =>
      renderExportDocument({ head, completions: exportedOf(completions, readDocument) }),
    manifest: renderExportManifest,
  };
}
