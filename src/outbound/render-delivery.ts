/** Makes the files of a delivery: a completion file here, an export where exports are made. */
import { hash } from "node:crypto";
import { xmlContentType } from "../documents/writing/element-writer.ts";
import type { ExportedCompletion } from "../documents/writing/export-document.ts";
import { renderStopCompletion } from "../documents/writing/stop-completion-writer.ts";
import type { StoredCompletion } from "../store/outbound/completions.ts";
import type { ReadCompletionDocument } from "./completion-documents.ts";
import type { DeliveryToRender, RenderDelivery, RenderedDelivery } from "./delivery-to-render.ts";
import { stopCompletionOf } from "./stop-completion-of.ts";

interface DeliveryRenderers {
  readonly readDocument: ReadCompletionDocument;
  readonly export: RenderDelivery;
}

/** What a file is made of, with the contents of its documents when the completion embeds them. */
export function renderable(
  stored: StoredCompletion,
  readDocument: ReadCompletionDocument,
): ExportedCompletion {
  const embedded = { readDocument: (guid: string) => readDocument(stored, guid) };
  return { completion: stopCompletionOf(stored), ...(stored.embedsDocuments ? embedded : {}) };
}

/** The text of a completion file; the same for the same completion. */
export async function completionText(
  stored: StoredCompletion,
  companyCode: string,
  readDocument: ReadCompletionDocument,
): Promise<string> {
  const { completion, ...options } = renderable(stored, readDocument);
  return await renderStopCompletion(completion, { ...options, companyCode });
}

async function completionFile(
  { completion, companyCode, guid, name, subjectId }: DeliveryToRender,
  readDocument: ReadCompletionDocument,
): Promise<RenderedDelivery> {
  if (completion === undefined) throw new Error(`completion ${subjectId} is not in the database`);
  const bytes = Buffer.from(await completionText(completion, companyCode, readDocument), "utf8");
  return {
    delivery: {
      id: guid,
      companyCode,
      files: [{ name, contentType: xmlContentType, read: async () => bytes }],
    },
    sha256: hash("sha256", bytes, "hex"),
    size: bytes.length,
  };
}

/** The renderer of deliveries. It rejects when the files cannot be made now; what it gives is the same each time. */
export function createDeliveryRenderer({
  export: exported,
  readDocument,
}: DeliveryRenderers): RenderDelivery {
  return (row) => (row.kind === "export" ? exported(row) : completionFile(row, readDocument));
}
