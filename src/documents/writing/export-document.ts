/**
 * Writes a batch export as one document, `StopCompletions`, piece by piece: it may hold tens of thousands of stops. What
 * it writes obeys `xsd/stop-completion.xsd`.
 */
import type { StopCompletion } from "../../domain/outbound/stop-completion.ts";
import { xmlDeclaration } from "./element-writer.ts";
import { exportElement } from "./export-elements.ts";
import { type ExportHead, exportHeadView } from "./export-manifest.ts";
import { compileOutgoing } from "./outgoing-style.ts";
import type { ReadDocument } from "./document-contents.ts";
import { renderCompletionElement } from "./stop-completion-writer.ts";

const writeHead = compileOutgoing([exportElement]);

/** A completion as it stands in a file of its own: whether contents are embedded was settled when it was made. */
export interface ExportedCompletion {
  readonly completion: StopCompletion;
  readonly readDocument?: ReadDocument;
}

export interface ExportToWrite {
  readonly head: ExportHead;
  /** `head.count` of them, in the order in which they are written. */
  readonly completions: AsyncIterable<ExportedCompletion> | Iterable<ExportedCompletion>;
}

/**
 * The pieces of the document in their order, text in UTF-8: its head, one for each completion, its end. The same export
 * gives the same pieces. Throws when there are not as many completions as the head says.
 */
export async function* renderExportDocument({
  head,
  completions,
}: ExportToWrite): AsyncGenerator<string, void, undefined> {
  const { companyCode } = head;
  yield `${xmlDeclaration}<StopCompletions>\n${writeHead(exportHeadView(head), "  ")}`;
  let count = 0;
  for await (const { completion, ...options } of completions) {
    count += 1;
    yield await renderCompletionElement(completion, { ...options, companyCode }, "  ");
  }
  if (count !== head.count)
    throw new Error(`an export of ${head.count} completions has been given ${count} of them`);
  yield "</StopCompletions>\n";
}
