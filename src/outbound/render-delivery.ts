/** Makes the files of a delivery: a completion file here, an export where exports are made. */
import { hash } from "node:crypto";
import { xmlContentType } from "../documents/writing/element-writer.ts";
import type { StopCompletion } from "../domain/outbound/stop-completion.ts";
import type { StoredCompletion } from "../store/outbound/completions.ts";
import type { ReadCompletionDocument } from "./completion-documents.ts";
import type { DeliveryToRender, RenderDelivery, RenderedDelivery } from "./delivery-to-render.ts";
import { stopCompletionOf } from "./stop-completion-of.ts";

export interface CompletionRenderOptions {
  readonly companyCode: string;
  /** The content of a document by its GUID, undefined when it is not there; absent when none are embedded. */
  readonly readDocument?: (guid: string) => Promise<Uint8Array | undefined>;
}

export interface DeliveryRenderers {
  /** The text of a completion file; the same for the same completion. */
  readonly completion: (completion: StopCompletion, options: CompletionRenderOptions) => Promise<string>;
  readonly readDocument: ReadCompletionDocument;
  readonly export: RenderDelivery;
}

async function textOf(
  { completion: render, readDocument }: DeliveryRenderers,
  stored: StoredCompletion,
  companyCode: string,
): Promise<string> {
  const embedded = { readDocument: (guid: string) => readDocument(stored, guid) };
  const options = { companyCode, ...(stored.embedsDocuments ? embedded : {}) };
  return await render(stopCompletionOf(stored), options);
}

async function completionFile(
  row: DeliveryToRender,
  renderers: DeliveryRenderers,
): Promise<RenderedDelivery> {
  const { completion, companyCode, guid, name } = row;
  if (completion === undefined) throw new Error(`completion ${row.subjectId} is not in the database`);
  const bytes = Buffer.from(await textOf(renderers, completion, companyCode), "utf8");
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
export function createDeliveryRenderer(renderers: DeliveryRenderers): RenderDelivery {
  return (row) => (row.kind === "export" ? renderers.export(row) : completionFile(row, renderers));
}
