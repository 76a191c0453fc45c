/** What routes call, as functions over values: the composition root binds them to the store and the pipeline. */
import type { StopSubmission, SubmittedStopDocument } from "../../inbound/submit-stop-document.ts";
import type { BusinessPartnersOutcome } from "../../operations/business-partners.ts";
import type { ImportInput } from "../../operations/import-request.ts";
import type { LegacyStopsPage, LegacyStopsQuery } from "../../operations/legacy-stops.ts";
import type { StopDetailQuery } from "../../operations/stop-detail.ts";

/** What `/readyz` reports: names of checks and whether each is fine, nothing that an outsider should not know. */
export interface Health {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, boolean>>;
}

export interface HttpOperations {
  readStopDetail(query: StopDetailQuery): Promise<string>;
  findLegacyStops(query: LegacyStopsQuery, signal: AbortSignal): Promise<LegacyStopsPage>;
  importBusinessPartners(input: ImportInput): Promise<BusinessPartnersOutcome>;
  submitStopDocument(submission: StopSubmission): Promise<SubmittedStopDocument>;
  health(): Health | Promise<Health>;
  /** In the text form of Prometheus. */
  metrics(): string;
}
