/** The legacy XML web service's way into the pipeline: one stop document, processed synchronously. */
import type { DocumentPool } from "../documents/pool/document-pool.ts";
import type { PreparedDocument } from "../documents/pool/prepared-document.ts";
import { writeStopResponse } from "../documents/writing/stop-response.ts";
import type { Clock } from "../lib/clock.ts";
import { DropgateError, type ErrorCode, type Fault } from "../lib/errors.ts";
import { applyStopChanges, type StopChangesOutcome } from "../operations/stops/apply-stop-changes.ts";
import type { Store } from "../store/database/database.ts";

/** A stop document as it arrived over HTTP. `bytes` are untouched. */
export interface StopSubmission {
  readonly companyId: number;
  readonly companyCode: string;
  readonly bytes: Uint8Array;
  /** The parameter of the Content-Type; a byte order mark wins over it, and it wins over the declaration. */
  readonly charset?: string | undefined;
  readonly userName: string;
  readonly requestId: string;
}

/** The result. `xml` is the StopResponse document; `mappedCode` is the first reason when `status` is 99. */
export interface SubmittedStopDocument {
  readonly status: 10 | 99;
  readonly xml: string;
  readonly mappedCode?: ErrorCode;
}

export interface StopSubmissionDependencies {
  readonly store: Pick<Store, "write">;
  readonly documents: Pick<DocumentPool, "prepareBytes">;
  readonly clock: Clock;
}

/** What a document without an id of its own is answered under (specification/stop-document.md#response). */
const unknownDocument = "UNKNOWN";
const noCounts = { created: 0, updated: 0, deleted: 0 } as const;

/** The StopResponse for a document that was never processed. */
export function refusalDocument(faults: readonly Fault[]): string {
  return writeStopResponse({ documentId: unknownDocument, faults, ...noCounts });
}

function checkCompany(prepared: PreparedDocument, companyCode: string): Fault | undefined {
  if (prepared.kind !== "read" || prepared.companyCode === undefined) return undefined;
  if (prepared.companyCode.toLowerCase() === companyCode.toLowerCase()) return undefined;
  const message = `CompanyCode ${prepared.companyCode} in the document is not the company ${companyCode} of the address: make them agree`;
  return { code: "companyDiffers", message, path: "/Stops/CompanyCode" };
}

/** Bytes in memory can always be read: the disk does not take their documents. */
function unstorable({ message }: { readonly message: string }): DropgateError {
  const text = "documents cannot be stored at this moment; send the same document again later.";
  return new DropgateError("overloaded", text, { cause: new Error(message) });
}

async function apply(
  deps: StopSubmissionDependencies,
  submission: StopSubmission,
  prepared: PreparedDocument,
): Promise<StopChangesOutcome> {
  if (prepared.kind === "unreadable") throw unstorable(prepared);
  if (prepared.kind === "refused") return { kind: "refused", faults: prepared.faults };
  const wrongCompany = checkCompany(prepared, submission.companyCode);
  if (wrongCompany !== undefined) return { kind: "refused", faults: [wrongCompany] };
  return await deps.store.write(submission.companyId, (tx) =>
    applyStopChanges(tx, {
      companyId: submission.companyId,
      changes: prepared.instructions,
      fileTime: null,
      refuseLate: false,
      now: deps.clock.now(),
    }),
  );
}

/** Processes a document as a file would be, and answers after the change is durable. */
export async function submitStopDocument(
  deps: StopSubmissionDependencies,
  submission: StopSubmission,
): Promise<SubmittedStopDocument> {
  const prepared = await deps.documents.prepareBytes(submission.bytes, submission);
  const outcome = await apply(deps, submission, prepared);
  const documentId = (prepared.kind === "unreadable" ? undefined : prepared.documentId) ?? unknownDocument;
  if (outcome.kind === "applied") {
    return { status: 10, xml: writeStopResponse({ documentId, faults: [], ...outcome.counts }) };
  }
  const mappedCode = outcome.faults[0]?.code;
  const xml = writeStopResponse({ documentId, faults: outcome.faults, ...noCounts });
  return mappedCode === undefined ? { status: 99, xml } : { status: 99, xml, mappedCode };
}
