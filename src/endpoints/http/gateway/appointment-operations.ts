/** The operations on appointments (specification/gateway.md#operations). */
import { listTimeSlots } from "../../../operations/appointments/list-time-slots.ts";
import { reserveTimeSlot } from "../../../operations/appointments/reserve-time-slot.ts";
import {
  ReservationAnswer,
  SlotAnswer,
  SlotListingBody,
  SlotReservationBody,
} from "../openapi/api-appointment-schemas.ts";
import { bodyErrors, type CompanyOperation, jsonAnswerOf } from "../openapi/api-description.ts";
import { answersJson, bodyOf, gatewayWrite } from "./operation-parts.ts";

const place = { addr1: "8 Elm Lane", city: "Springfield", state: "IL", zip: "62704", country: "US" };
const timeSlotId = "q1uW3CeQmC1sMjAyNi0xMS0wN1QwODowMFNwcmluZ2ZpZWxk";

const amountForms = "A number or text, 0 to 1,000,000,000; counted to thousandths.";

export const appointmentOperations: readonly CompanyOperation[] = [
  {
    ...gatewayWrite,
    name: "listTimeSlots",
    summary: "List available time slots",
    path: "/appointment/slots/{companyCode}",
    tag: "Appointments",
    description:
      "The time slots of the first region that the address matches, from `apptStartDate` (local to the region) or now on, that " +
      "have enough left for what is named; all of them when nothing is. No region matches: `timeSlots` is empty. The first listing " +
      `for an order that is there and has no appointment is recorded as 8101. ${amountForms}`,
    request: {
      schema: SlotListingBody,
      example: { apptRequest: { orderId: "4001", ...place, quantity: 3, weight: 12.5 } },
    },
    answer: jsonAnswerOf(
      "The request without its amounts, the region, and the slots, the earliest first.",
      SlotAnswer,
      {
        apptRequest: {
          orderId: "4001",
          ...place,
          serviceRegion: "Springfield",
          timeSlots: [
            {
              timeSlotId,
              startDateTime: "2026-11-07T08:00",
              endDateTime: "2026-11-07T12:00",
              timeZone: "America/Chicago",
            },
          ],
        },
      },
    ),
    after: ["importOrders"],
    errors: [...bodyErrors, "emptyList", "badDate"],
    run: answersJson(listTimeSlots, bodyOf),
  },
  {
    ...gatewayWrite,
    name: "reserveTimeSlot",
    summary: "Reserve a time slot",
    path: "/appointment/reserve/{companyCode}",
    tag: "Appointments",
    description:
      "Reserves a slot. With the `orderId` of an order or stop that is there, its previous appointment is released, the time is written " +
      "to `to.schedule`, and 8102 is recorded; the appointment does not expire. With `Not Available` the share is held for `apptTTL` " +
      "minutes; reserving the same slot with the `orderId` from the same address in that time turns the hold into the appointment. " +
      `At least one of \`quantity\`, \`weight\`, \`volume\` and \`serviceTime\` is needed. ${amountForms}`,
    request: {
      schema: SlotReservationBody,
      example: { apptReservation: { timeSlotId, orderId: "4001", ...place, quantity: 3, weight: 12.5 } },
    },
    answer: jsonAnswerOf("Reserved, and kept.", ReservationAnswer, {
      apptReservation: {
        orderId: "4001",
        ...place,
        apptStatus: "CONFIRMED",
        apptTTL: 30,
        serviceRegion: "Springfield",
      },
    }),
    after: ["importOrders"],
    errors: [
      ...bodyErrors,
      ...(["emptyList", "noCapacityNamed", "slotNotFound", "slotFull"] as const),
      ...(["orderNotFound", "stopInTransit", "finalState"] as const),
    ],
    run: answersJson(reserveTimeSlot, bodyOf),
  },
];
