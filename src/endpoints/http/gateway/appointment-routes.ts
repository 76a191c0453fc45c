/** The routes for appointments (specification/gateway.md#operations). */
import { listTimeSlots } from "../../../operations/appointments/list-time-slots.ts";
import { reserveTimeSlot } from "../../../operations/appointments/reserve-time-slot.ts";
import type { CompanyRoute } from "../server/route.ts";
import { answersJson, bodyOf, gatewayWrite } from "./route-helpers.ts";

export const appointmentRoutes: readonly CompanyRoute[] = [
  {
    ...gatewayWrite,
    name: "listTimeSlots",
    summary: "List available time slots",
    path: "/appointment/slots/{companyCode}",
    run: answersJson(listTimeSlots, bodyOf),
  },
  {
    ...gatewayWrite,
    name: "reserveTimeSlot",
    summary: "Reserve a time slot",
    path: "/appointment/reserve/{companyCode}",
    run: answersJson(reserveTimeSlot, bodyOf),
  },
];
