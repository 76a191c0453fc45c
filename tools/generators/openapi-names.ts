/** Which definitions are components of the API document: entities, and everything that is referred to more than once. */
import type { TSchema } from "@sinclair/typebox";
import { DocumentObject } from "../../src/domain/documents/document-object.ts";
import { Load, LoadAssignment, LoadHeader } from "../../src/domain/load/load.ts";
import { BusinessPartner } from "../../src/domain/order/business-partner.ts";
import { Customer } from "../../src/domain/order/customer.ts";
import { Order } from "../../src/domain/order/order.ts";
import { Accessorial, Comment, CustomAttribute } from "../../src/domain/stop/comment.ts";
import { Address, AddressAndContact, Contact, Party, Schedule } from "../../src/domain/stop/party.ts";
import { Stop, StopAssignment } from "../../src/domain/stop/stop.ts";
import { CartonContent, Confirmed, StopDetail } from "../../src/domain/stop/stop-detail.ts";
import { User } from "../../src/domain/users/user.ts";
import {
  AppointmentAddress,
  TimeSlot,
  TimeSlotRequest,
  TimeSlotReservation,
} from "../../src/endpoints/http/openapi/api-appointment-schemas.ts";
import {
  Cancellation,
  CustomerRetrieval,
  LoadExecutionInfo,
  LoadRetrieval,
  OrderRetrieval,
  PartyExecution,
  Reasons,
  StopExecutionInfo,
  StopRetrieval,
  Success,
} from "../../src/endpoints/http/openapi/api-schemas.ts";
import {
  Health,
  ImportInfo,
  LegacyLoadHeader,
  LegacyStop,
  RecordedEvent,
  StopResponse,
} from "../../src/endpoints/http/openapi/api-service-schemas.ts";
import { DriverAssignment } from "../../src/operations/loads/load-driver.ts";
import { CustomerDeletion } from "../../src/operations/orders/delete-customer.ts";
import {
  LoadCancellation,
  OrderCancellation,
  StopCancellation,
} from "../../src/operations/stops/cancellation-request.ts";
import { CarrierAssignment } from "../../src/operations/stops/carrier-assignment.ts";

/** By the names of their components. */
export const namedSchemas: Readonly<Record<string, TSchema>> = {
  ...{ Address, Contact, AddressAndContact, Schedule, Party, Comment, CustomAttribute, Accessorial },
  Document: DocumentObject,
  ...{ StopDetail, CartonContent, Confirmed, StopAssignment, Stop, LoadHeader, LoadAssignment, Load },
  OrderDetail: Order.properties.stopDetails.items,
  ...{ Order, Customer, User, BusinessPartner, CarrierAssignment, DriverAssignment },
  ...{ LoadCancellation, StopCancellation, OrderCancellation, CustomerDeletion, Success, Reasons },
  ...{ PartyExecution, Cancellation, StopExecutionInfo, LoadExecutionInfo },
  ...{ StopRetrieval, LoadRetrieval, OrderRetrieval, CustomerRetrieval },
  ...{ AppointmentAddress, TimeSlotRequest, TimeSlotReservation, TimeSlot },
  ...{ LegacyStop, LegacyLoadHeader, StopResponse, Health, ImportInfo, RecordedEvent },
};
