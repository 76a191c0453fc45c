/** What drivers report: route events and positions (specification/gateway.md#operations). */
import type { Role } from "../../../domain/users/role.ts";
import { reportGpsPosition } from "../../../operations/execution/report-gps-position.ts";
import { reportRouteEvent } from "../../../operations/execution/report-route-event.ts";
import type { RouteReport } from "../../../operations/execution/route-report.ts";
import type { HttpOptions } from "../server/http-options.ts";
import type { CompanyRoute, OperationRequest } from "../server/route.ts";
import { answersSuccess, bodyOf, gatewayWrite, jsonLimitsOf } from "./route-helpers.ts";

const reporters: readonly Role[] = ["DI_Driver", "DI_Integration"];

function reportOf(request: OperationRequest, options: HttpOptions): RouteReport {
  const { userName, roles, large } = request;
  const report = { ...bodyOf(request, options), userName, roles };
  return large === undefined ? report : { ...report, large, jsonLimits: jsonLimitsOf(options) };
}

export const eventRoutes: readonly CompanyRoute[] = [
  {
    ...gatewayWrite,
    access: reporters,
    name: "reportRouteEvent",
    summary: "Report route/stop event",
    path: "/event/route/{companyCode}",
    takesLarge: true,
    run: answersSuccess(reportRouteEvent, reportOf),
  },
  {
    ...gatewayWrite,
    access: reporters,
    name: "reportGpsPosition",
    summary: "Report GPS position",
    path: "/event/gps/{companyCode}",
    run: answersSuccess(reportGpsPosition, reportOf),
  },
];
