/** Contents of documents that are embedded in a completion file: read before it is written, and each written once. */
import { readGuid } from "../../domain/documents/document-content.ts";
import type { DocumentObject } from "../../domain/documents/document-object.ts";
import { signatureOf } from "../../domain/documents/signature.ts";
import type { StopCompletion } from "../../domain/outbound/stop-completion.ts";

/** Reads a stored document by its GUID; undefined when there is none. */
export type ReadDocument = (guid: string) => Promise<Uint8Array | undefined>;

/** In base64, by GUID. */
export type DocumentContents = ReadonlyMap<string, string>;

/**
 * Contents over this size in bytes are not embedded: many XML parsers refuse a text of more than 10,000,000 characters.
 * They can be fetched by their reference all the same.
 */
export const maxEmbeddedBytes = 7_000_000;

/** The GUIDs of documents that a driver captured: the host already has those that it sent with the stop. */
function guidsIn({ execution, events }: StopCompletion): ReadonlySet<string> {
  const signature = signatureOf(execution.documents ?? [])?.document;
  const captured = [
    ...(signature === undefined ? [] : [signature]),
    ...events.flatMap(({ documents }) => documents),
  ];
  const guids = captured.map(({ reference = "" }) => readGuid(reference));
  return new Set(guids.filter((guid) => guid !== undefined));
}

/** The contents to embed, read one after the other. What cannot be found, or is too large, is not among them. */
export async function readContents(
  completion: StopCompletion,
  readDocument: ReadDocument,
): Promise<DocumentContents> {
  const contents = new Map<string, string>();
  for (const guid of guidsIn(completion)) {
    const bytes = await readDocument(guid);
    if (bytes === undefined || bytes.length > maxEmbeddedBytes) continue;
    contents.set(guid, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"));
  }
  return contents;
}

export const noContents: DocumentContents = new Map();

/** Gives a document its content, the first time it is asked for that content. */
export function createContentPlacer(
  contents: DocumentContents,
): (document: DocumentObject) => DocumentObject {
  const placed = new Set<string>();
  return ({ documentData: _stale, ...document }) => {
    const guid = readGuid(document.reference ?? "");
    const documentData = guid === undefined || placed.has(guid) ? undefined : contents.get(guid);
    if (guid === undefined || documentData === undefined) return document;
    placed.add(guid);
    return { ...document, documentData };
  };
}
