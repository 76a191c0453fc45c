/** The routes for appointments (specification/gateway.md#operations). */
import { jsonAnswer } from "../server/answer.ts";
import type { CompanyRoute, Route } from "../server/route.ts";
import { bodyOf, gatewayWrite } from "./route-helpers.ts";

const listTimeSlots: CompanyRoute = {
  ...gatewayWrite,
  name: "listTimeSlots",
  summary: "List available time slots",
  path: "/appointment/slots/{companyCode}",
  async run({ operations, options }, request) {
    return jsonAnswer(JSON.stringify(await operations.listTimeSlots(bodyOf(request, options()))));
  },
};

const reserveTimeSlot: CompanyRoute = {
  ...gatewayWrite,
  name: "reserveTimeSlot",
  summary: "Reserve a time slot",
  path: "/appointment/reserve/{companyCode}",
  async run({ operations, options }, request) {
    return jsonAnswer(JSON.stringify(await operations.reserveTimeSlot(bodyOf(request, options()))));
  },
};

export const appointmentRoutes: readonly Route[] = [listTimeSlots, reserveTimeSlot];
