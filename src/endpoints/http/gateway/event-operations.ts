/** Reports of drivers: route events and positions (specification/gateway.md#operations). */
import { Type } from "@sinclair/typebox";
import { routeEventCodes } from "../../../domain/execution/route-event-rules.ts";
import { GpsPosition, RouteEvent } from "../../../domain/execution/route-event.ts";
import type { Role } from "../../../domain/users/role.ts";
import { reportGpsPosition } from "../../../operations/execution/report-gps-position.ts";
import { reportRouteEvent } from "../../../operations/execution/report-route-event.ts";
import type { RouteReport } from "../../../operations/execution/route-report.ts";
import { bodyErrors, type CompanyOperation } from "../openapi/api-description.ts";
import { withCompany } from "../openapi/api-schemas.ts";
import { type HttpOptions, jsonLimitsOf } from "../server/http-options.ts";
import type { OperationRequest } from "../server/route.ts";
import { answersSuccess, bodyOf, gatewayWrite } from "./operation-parts.ts";

const RouteEventBody = withCompany(RouteEvent, {
  eventCode: Type.Unsafe<string>({ type: "string", enum: [...routeEventCodes] }),
});

const geoStamp = {
  eventDTTM: "2026-11-06T06:05:00",
  eventTz: "America/Chicago",
  latitude: 39.7817,
  longitude: -89.6501,
};

const reportErrors = [...bodyErrors, "emptyList", "badDate", "loadNotFound"] as const;

const whose =
  "A `DI_Driver` reports of loads that are assigned to that driver, or to nobody yet; others are refused with `932`.";

const reporters: readonly Role[] = ["DI_Driver", "DI_Integration"];

function reportOf(request: OperationRequest, options: HttpOptions): RouteReport {
  const { userName, roles, large } = request;
  const report = { ...bodyOf(request, options), userName, roles };
  return large === undefined ? report : { ...report, large, jsonLimits: jsonLimitsOf(options) };
}

export const eventOperations: readonly CompanyOperation[] = [
  {
    ...gatewayWrite,
    access: reporters,
    name: "reportRouteEvent",
    summary: "Report route/stop event",
    path: "/event/route/{companyCode}",
    takesLarge: true,
    tag: "Events",
    description:
      "Reports a step of a load (`route.…`) or of one of its stops (`stop.…`, with `stopEventData`). Events may come late and in " +
      "bulk: they carry their own time and are applied in the order in which they come. An event that comes again, with the " +
      `same \`routeNbr\`, \`stopNbr\`, \`eventCode\` and \`eventDTTM\`, is answered with success and changes nothing. ${whose}`,
    request: {
      schema: RouteEventBody,
      example: { eventCode: "route.initiated", geoStamp, routeNbr: "L-1002" },
    },
    after: ["updateBusinessPartners", "updateUsers"],
    errors: [...reportErrors, "unknownEvent", "eventOutOfSequence", "stopNotOnRoute", "driverRequired"],
    run: answersSuccess(reportRouteEvent, reportOf),
  },
  {
    ...gatewayWrite,
    access: reporters,
    name: "reportGpsPosition",
    summary: "Report GPS position",
    path: "/event/gps/{companyCode}",
    tag: "Events",
    description:
      "Reports where a load is. Positions count between the start and the end of the load, by their own time; others are " +
      `answered in the same way and dropped. ${whose}`,
    request: { schema: withCompany(GpsPosition), example: { geoStamp, routeNbr: "L-1002" } },
    after: ["updateBusinessPartners", "updateUsers"],
    errors: reportErrors,
    run: answersSuccess(reportGpsPosition, reportOf),
  },
];
