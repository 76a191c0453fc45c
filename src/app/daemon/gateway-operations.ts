/** The operations of the gateway and of the legacy retrieval, bound to the store. */
import type { AppointmentSettings } from "../../domain/appointments/appointment-region.ts";
import type { HttpOperations } from "../../endpoints/http/gateway/http-operations.ts";
import type { Clock } from "../../lib/clock.ts";
import { createSealedIntegers, createSealedNumbers, newSealingKey } from "../../lib/sealed-numbers.ts";
import {
  assignLoadCarrier,
  assignLoadDriver,
  unassignLoadCarrier,
  unassignLoadDriver,
} from "../../operations/loads/assign-load.ts";
import { importBusinessPartners } from "../../operations/imports/business-partners.ts";
import { cancelLoad } from "../../operations/loads/cancel-load.ts";
import { readCustomerDetail } from "../../operations/orders/customer-detail.ts";
import { detailBytes } from "../../operations/stops/detail-answers.ts";
import { deleteCustomer } from "../../operations/orders/delete-customer.ts";
import { readEventList } from "../../operations/stops/event-list.ts";
import { importCustomers } from "../../operations/imports/import-customers.ts";
import { readImportInfo } from "../../operations/imports/import-info.ts";
import { importLoads } from "../../operations/imports/import-loads.ts";
import type { ImportReaders } from "../../operations/imports/import-preparation.ts";
import { importOrders } from "../../operations/imports/import-orders.ts";
import { importAsns, importStops } from "../../operations/imports/import-stops.ts";
import { importUsers, userImportHashing } from "../../operations/imports/import-users.ts";
import { findLegacyDocument } from "../../operations/legacy/legacy-document.ts";
import { findLegacyLoads } from "../../operations/legacy/legacy-loads.ts";
import { findLegacyStops } from "../../operations/legacy/legacy-stops.ts";
import { listTimeSlots } from "../../operations/appointments/list-time-slots.ts";
import { readLoadDetail } from "../../operations/loads/load-detail.ts";
import { readOrderDetail } from "../../operations/orders/order-detail.ts";
import { reportGpsPosition } from "../../operations/execution/report-gps-position.ts";
import { reportRouteEvent } from "../../operations/execution/report-route-event.ts";
import { reserveTimeSlot } from "../../operations/appointments/reserve-time-slot.ts";
import type { EventSettings } from "../../operations/execution/route-report.ts";
import { rejectOrder } from "../../operations/orders/reject-order.ts";
import { rejectAsn, rejectStop } from "../../operations/stops/reject-stop.ts";
import { createHashQueue } from "../../sign-in/sign-in-hash-queue.ts";
import type { ImportIntegrations } from "../../operations/imports/service-import.ts";
import { assignStopCarrier, unassignStopCarrier } from "../../operations/stops/stop-carrier.ts";
import type { EventReaders } from "../../operations/execution/read-route-event.ts";
import { readStopDetail } from "../../operations/stops/stop-detail.ts";
import type { Store } from "../../store/database/database.ts";

interface GatewayDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly documentsDir: string;
  /** Without them every `serviceName` but `default` is unknown. */
  readonly integrations?: ImportIntegrations;
  /** Where large bodies are read; without them they are read at once. */
  readonly readers?: ImportReaders & EventReaders;
  /** Numbers of rows are shown under it (`sealed-numbers.ts`); a new one when none is given. */
  readonly numberKey?: string;
  /** The settings of the section `events`, asked for at each report. */
  readonly events: () => EventSettings;
  /** The settings of a company's appointments by its code, asked for at each request. */
  readonly appointments: (companyCode: string) => AppointmentSettings;
}

/** What numbers of rows are shown as. */
function shownNumbers(key: string) {
  const shown = {
    load: createSealedIntegers(key, "load"),
    company: createSealedIntegers(key, "company"),
  };
  return { eventNumbers: createSealedNumbers(key, "event"), shown };
}

/** What the routes run on, but for those of the pipeline and of monitoring. */
export function gatewayOperations(base: GatewayDeps) {
  const { eventNumbers, shown } = shownNumbers(base.numberKey ?? newSealingKey());
  const deps = { ...base, eventNumbers, hashQueue: createHashQueue(userImportHashing) };
  const { read } = deps.store;
  return {
    readStopDetail: (query) =>
      detailBytes(read, { kind: "stop", companyId: query.companyId, number: query.stopNbr }, () =>
        readStopDetail(deps, query),
      ),
    importStops: (input) => importStops(deps, input),
    importAsns: (input) => importAsns(deps, input),
    assignStopCarrier: (input) => assignStopCarrier(deps, input),
    unassignStopCarrier: (input) => unassignStopCarrier(deps, input),
    rejectStop: (input) => rejectStop(deps, input),
    rejectAsn: (input) => rejectAsn(deps, input),
    readLoadDetail: (query) =>
      detailBytes(read, { kind: "load", companyId: query.companyId, number: query.loadNbr }, () =>
        readLoadDetail(deps, query),
      ),
    importLoads: (input) => importLoads(deps, input),
    assignLoadCarrier: (input) => assignLoadCarrier(deps, input),
    unassignLoadCarrier: (input) => unassignLoadCarrier(deps, input),
    assignLoadDriver: (input) => assignLoadDriver(deps, input),
    unassignLoadDriver: (input) => unassignLoadDriver(deps, input),
    cancelLoad: (input) => cancelLoad(deps, input),
    readImportInfo: (query) => readImportInfo(deps, query),
    readEventList: (query) => readEventList(deps, query),
    reportRouteEvent: (input) => reportRouteEvent(deps, input),
    reportGpsPosition: (input) => reportGpsPosition(deps, input),
    importBusinessPartners: (input) => importBusinessPartners(deps, input),
    importUsers: (input, signal) => importUsers(deps, input, signal),
    importCustomers: (input) => importCustomers(deps, input),
    readCustomerDetail: (query) =>
      detailBytes(read, { kind: "customer", companyId: query.companyId, number: query.accountNumber }, () =>
        readCustomerDetail(deps, query),
      ),
    deleteCustomer: (input) => deleteCustomer(deps, input),
    importOrders: (input) => importOrders(deps, input),
    readOrderDetail: (query) =>
      detailBytes(read, { kind: "order", companyId: query.companyId, number: query.orderNbr }, () =>
        readOrderDetail(deps, query),
      ),
    rejectOrder: (input) => rejectOrder(deps, input),
    listTimeSlots: (input) => listTimeSlots(deps, input),
    reserveTimeSlot: (input) => reserveTimeSlot(deps, input),
    findLegacyDocument: (query) => findLegacyDocument(deps, query),
    findLegacyStops: (query, signal) => findLegacyStops(deps, { ...query, shown }, signal),
    findLegacyLoads: (query, signal) => findLegacyLoads(deps, { ...query, shown }, signal),
  } satisfies Partial<HttpOperations>;
}
