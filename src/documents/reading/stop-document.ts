/** A stop document as it is handed on, and its limits. Free of the parser, so that the main thread never loads it. */
import type { Stop } from "../../domain/stop/stop.ts";
import type { StopFunction } from "../../domain/stop/stop-change.ts";
import type { Fault } from "../../lib/errors.ts";
import type { ReaderLimits } from "./field-reader.ts";

export interface StopInstruction {
  readonly function: StopFunction;
  readonly stopNbr: string;
  readonly stop: Stop;
  /** Line of the `Stop` element. */
  readonly line: number;
}

export interface StopDocument {
  readonly documentId?: string;
  /** The `CompanyCode` of `Stops`, for the caller to compare. */
  readonly companyCode?: string;
  readonly instructions: readonly StopInstruction[];
}

/** What is known of a refused document, for the ledger and the order of files. */
export interface RefusedStopDocument {
  readonly kind: "refused";
  readonly faults: readonly Fault[];
  readonly documentId?: string;
  /** Not well-formed at its end: perhaps a file that is still being written. */
  readonly isIncomplete: boolean;
  readonly firstFunction?: string;
  readonly firstStopNbr?: string;
}

export type StopDocumentOutcome =
  | { readonly kind: "read"; readonly document: StopDocument }
  | RefusedStopDocument;

export interface StopDocumentLimits extends ReaderLimits {
  readonly maxBytes: number;
}

/** The limits (specification/limits.md#documents). */
export const defaultStopDocumentLimits: StopDocumentLimits = {
  maxBytes: 50 * 1024 * 1024,
  maxDepth: 64,
  // libxml2's own limit for a text node; both say "10 MB".
  maxTextLength: 10_000_000,
  maxStops: 500,
  maxDetails: 20_000,
};

/** What the reader and the parser say of the two limits at which smaller parts would not help. */
export const limitWords = {
  depth: (most: number) => `elements are nested deeper than ${most}`,
  text: (most: number) => `a text is longer than ${most} characters`,
} as const;

/** What the sender can do, by the first words of what is over its limit. */
const limitRemedies: readonly (readonly [RegExp, string])[] = [
  [
    /^elements are nested/,
    "Close each element before the next one begins, and nest them only as the XSD does.",
  ],
  [/^a text is longer/, "Shorten that text, or leave its element out."],
  [/^a name is longer/, "Give elements and attributes the names that the XSD has."],
];

/** The fault of a document over one of the limits, with what can be done about that one. */
export function limitFault(what: string, line?: number): Fault {
  const remedy = limitRemedies.find(([words]) => words.test(what))?.[1] ?? "Send it in smaller parts.";
  const message = `The document is over its limit: ${what}. ${remedy}`;
  return line === undefined ? { code: "tooLarge", message } : { code: "tooLarge", message, line };
}
