/**
 * Takes the content out of the documents of an import, and stores it in the document store
 * (specification/legacy-services.md#documents).
 */
import {
  type DocumentContent,
  type KeptDocument,
  splitDocuments,
  type WithDocuments,
} from "../../domain/documents/document-content.ts";
import { putContent } from "../../lib/files/content-store.ts";
import type { Fault } from "../../lib/errors.ts";
import { refusal } from "../request-body.ts";
import { inTurns } from "./import-preparation.ts";

export interface DocumentsDeps {
  /** `<stateDir>/documents`. */
  readonly documentsDir: string;
}

export interface TakenOut<T> {
  /** Without content, each document that had some with its `reference`. The very same object when there was none. */
  readonly entity: T;
  /** To be entered with `saveDocuments` in the transaction that keeps the entity, or as `StopChange.documents`. */
  readonly kept: readonly KeptDocument[];
  /** 902 for content that is no base64; nothing was stored then. */
  readonly faults: readonly Fault[];
}

/**
 * Call it with an entity that has passed its validation and before the transaction begins: when it resolves, the contents
 * are durable, so that no committed row is ever without its file. Content whose row does not follow is swept after a day.
 * `path` is where the entity stands in the request, such as `stops[3]`.
 */
export async function takeOutDocuments<T extends WithDocuments>(
  deps: DocumentsDeps,
  entity: T,
  path: string,
): Promise<TakenOut<T>> {
  const split = splitDocuments(entity, path);
  if (split.faults.length > 0) return { entity, kept: [], faults: split.faults };
  return { entity: split.entity, kept: await storeContents(deps, split.contents), faults: [] };
}

/** What `make` gives for each entry of an import without its content. Throws with the faults of all. */
export async function eachWithoutContent<Entry extends WithDocuments, Made>(
  deps: DocumentsDeps,
  { list, entries }: { readonly list: string; readonly entries: readonly Entry[] },
  make: (entry: Entry, documents: readonly KeptDocument[]) => Made,
): Promise<readonly Made[]> {
  const faults: Fault[] = [];
  const made = await inTurns(entries, async (entry, index) => {
    const taken = await takeOutDocuments(deps, entry, `${list}[${index}]`);
    faults.push(...taken.faults);
    return make(taken.entity, taken.kept);
  });
  if (faults.length > 0) throw refusal(faults);
  return made;
}

/** The contents are durable when it resolves; the documents are to be entered with what they belong to. */
export async function storeContents(
  { documentsDir }: DocumentsDeps,
  contents: readonly DocumentContent[],
): Promise<readonly KeptDocument[]> {
  for (const { document, bytes } of contents)
    await putContent(documentsDir, { sha256: document.sha256, bytes });
  return contents.map(({ document }) => document);
}
