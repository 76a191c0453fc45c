/** What routes call, as functions over values: the composition root binds them to the store and the pipeline. */
import type { JsonBody } from "../server/answer.ts";
import type { StopSubmission, SubmittedStopDocument } from "../../../inbound/submit-stop-document.ts";
import type { AppointmentInput } from "../../../operations/appointments/appointment-request.ts";
import type { AssignLoad, AssignLoadDriver } from "../../../operations/loads/assign-load.ts";
import type { CancelLoad } from "../../../operations/loads/cancel-load.ts";
import type { EventListQuery } from "../../../operations/stops/event-list.ts";
import type { LoadImport } from "../../../operations/imports/import-loads.ts";
import type { StopImport } from "../../../operations/imports/import-stops.ts";
import type { RejectStop } from "../../../operations/stops/reject-stop.ts";
import type { StopCarrierInput } from "../../../operations/stops/stop-carrier.ts";
import type { BusinessPartnersOutcome } from "../../../operations/imports/business-partners.ts";
import type { CustomerDetailQuery } from "../../../operations/orders/customer-detail.ts";
import type { DeleteCustomer } from "../../../operations/orders/delete-customer.ts";
import type { OrderImport } from "../../../operations/imports/import-orders.ts";
import type { ImportInput } from "../../../operations/imports/import-request.ts";
import type { UserImport } from "../../../operations/imports/import-users.ts";
import type { LegacyDocument, LegacyDocumentQuery } from "../../../operations/legacy/legacy-document.ts";
import type { LegacyPage, LegacyPageQuery } from "../../../operations/legacy/legacy-search.ts";
import type { LoadDetailQuery } from "../../../operations/loads/load-detail.ts";
import type { OrderDetailQuery } from "../../../operations/orders/order-detail.ts";
import type { RouteReport } from "../../../operations/execution/route-report.ts";
import type { RejectOrder } from "../../../operations/orders/reject-order.ts";
import type { StopDetailQuery } from "../../../operations/stops/stop-detail.ts";

/** What `/readyz` reports: to everybody names of checks and whether each is fine, nothing that an outsider should not know. */
export interface Health {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, boolean>>;
  /** Only to the addresses of `http.metricsFrom`: why, and which files wait for long. */
  readonly messages: readonly string[];
}

export interface HttpOperations {
  readStopDetail(query: StopDetailQuery): JsonBody | Promise<JsonBody>;
  findLegacyDocument(query: LegacyDocumentQuery): Promise<LegacyDocument>;
  importStops(input: StopImport): Promise<void>;
  importAsns(input: StopImport): Promise<void>;
  assignStopCarrier(input: StopCarrierInput): Promise<void>;
  unassignStopCarrier(input: StopCarrierInput): Promise<void>;
  rejectStop(input: RejectStop): Promise<void>;
  rejectAsn(input: RejectStop): Promise<void>;
  readLoadDetail(query: LoadDetailQuery): JsonBody | Promise<JsonBody>;
  importLoads(input: LoadImport): Promise<{ readonly importId: string }>;
  assignLoadCarrier(input: AssignLoad): Promise<void>;
  unassignLoadCarrier(input: AssignLoad): Promise<void>;
  assignLoadDriver(input: AssignLoadDriver): Promise<void>;
  unassignLoadDriver(input: AssignLoadDriver): Promise<void>;
  cancelLoad(input: CancelLoad): Promise<void>;
  readImportInfo(query: { readonly companyId: number; readonly importId: string }): Promise<object>;
  readEventList(query: EventListQuery): Promise<object>;
  reportRouteEvent(input: RouteReport): Promise<void>;
  reportGpsPosition(input: RouteReport): Promise<void>;
  findLegacyStops(query: LegacyPageQuery, signal: AbortSignal): Promise<LegacyPage>;
  findLegacyLoads(query: LegacyPageQuery, signal: AbortSignal): Promise<LegacyPage>;
  importBusinessPartners(input: ImportInput): Promise<BusinessPartnersOutcome>;
  importUsers(input: UserImport, signal: AbortSignal): Promise<void>;
  importCustomers(input: ImportInput): Promise<void>;
  readCustomerDetail(query: CustomerDetailQuery): JsonBody | Promise<JsonBody>;
  deleteCustomer(input: DeleteCustomer): Promise<void>;
  importOrders(input: OrderImport): Promise<void>;
  readOrderDetail(query: OrderDetailQuery): JsonBody | Promise<JsonBody>;
  rejectOrder(input: RejectOrder): Promise<void>;
  listTimeSlots(input: AppointmentInput): Promise<object>;
  reserveTimeSlot(input: AppointmentInput): Promise<object>;
  submitStopDocument(submission: StopSubmission): Promise<SubmittedStopDocument>;
  health(): Health | Promise<Health>;
  /** In the text form of Prometheus. */
  metrics(): string;
}
