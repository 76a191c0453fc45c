/**
 * What operations work with, in one object that the composition root makes; each takes the part that it needs. The records
 * of the gateway do not see it, and so not the store: they name the operation and its input, and `call` runs it.
 */
import type { StopSubmissionDependencies } from "../../../inbound/submit-stop-document.ts";
import type { AppointmentDeps } from "../../../operations/appointments/appointment-request.ts";
import type { RouteReportDeps } from "../../../operations/execution/route-report.ts";
import type { UserImportDeps } from "../../../operations/imports/import-users.ts";
import type { ServiceImportDeps } from "../../../operations/imports/service-import.ts";
import type { LegacyDocumentDeps } from "../../../operations/legacy/legacy-document.ts";
import type { LegacyDeps } from "../../../operations/legacy/legacy-search.ts";
import type { EventListDeps } from "../../../operations/stops/event-list.ts";

/** These include what all others need. */
export type OperationContext = AppointmentDeps &
  EventListDeps &
  LegacyDeps &
  LegacyDocumentDeps &
  RouteReportDeps &
  ServiceImportDeps &
  StopSubmissionDependencies &
  UserImportDeps;

/** Runs an operation with the context. */
export type CallOperation = <Given extends readonly unknown[], Result>(
  operation: (context: OperationContext, ...given: Given) => Result,
  ...given: Given
) => Result;

export function callWith(context: OperationContext): CallOperation {
  return (operation, ...given) => operation(context, ...given);
}
