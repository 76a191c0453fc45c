/**
 * Writes completion files (specification/outbound.md#content), in the version of `domain/outbound/completion-format.ts`. What it
 * writes obeys `xsd/stop-completion.xsd`, whatever the values are.
 */
import type { CompletionFormat } from "../../domain/outbound/completion-format.ts";
import type { StopCompletion } from "../../domain/outbound/stop-completion.ts";
import { noContents, type ReadDocument, readContents } from "./document-contents.ts";
import { type WriteElements, wrapElement, xmlDeclaration } from "./element-writer.ts";
import { compileOutgoing } from "./outgoing-style.ts";
import { completionElementsOf } from "./stop-completion-elements.ts";
import { completionView } from "./stop-completion-view.ts";

export interface CompletionOptions {
  readonly companyCode?: string;
  /** Embeds the contents of what the driver has captured; without it documents have their reference alone. */
  readonly readDocument?: ReadDocument;
}

const writers: Readonly<Record<CompletionFormat, WriteElements>> = {
  1: compileOutgoing(completionElementsOf(1)),
  2: compileOutgoing(completionElementsOf(2)),
};

/** The element `StopCompletion` without a declaration, indented. */
export async function renderCompletionElement(
  completion: StopCompletion,
  { companyCode, readDocument }: CompletionOptions,
  indent: string,
): Promise<string> {
  const contents = readDocument === undefined ? noContents : await readContents(completion, readDocument);
  const view = completionView(completion, { companyCode, contents });
  return wrapElement("StopCompletion", writers[completion.format](view, `${indent}  `), indent);
}

/**
 * The text of a completion file, UTF-8. The same completion gives the same text. Rejects only when `readDocument` does;
 * a content that it does not find is left out.
 */
export async function renderStopCompletion(
  completion: StopCompletion,
  options: CompletionOptions = {},
): Promise<string> {
  return `${xmlDeclaration}${await renderCompletionElement(completion, options, "")}`;
}
