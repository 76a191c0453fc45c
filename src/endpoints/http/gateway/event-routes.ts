/** What drivers report: route events and positions (specification/gateway.md#operations). */
import { successAnswer } from "../server/answer.ts";
import type { CompanyRoute, OperationRequest, Route } from "../server/route.ts";
import { bodyOf, gatewayWrite, jsonLimitsOf } from "./route-helpers.ts";
import type { HttpOptions } from "../server/http-options.ts";
import type { RouteReport } from "../../../operations/execution/route-report.ts";
import type { Role } from "../../../domain/users/role.ts";

const reporters: readonly Role[] = ["DI_Driver", "DI_Integration"];

function reportOf(request: OperationRequest, options: HttpOptions): RouteReport {
  const { userName, roles, large } = request;
  const report = { ...bodyOf(request, options), userName, roles };
  return large === undefined ? report : { ...report, large, jsonLimits: jsonLimitsOf(options) };
}

const reportRouteEvent: CompanyRoute = {
  ...gatewayWrite,
  access: reporters,
  name: "reportRouteEvent",
  summary: "Report route/stop event",
  path: "/event/route/{companyCode}",
  takesLarge: true,
  async run({ operations, options }, request) {
    await operations.reportRouteEvent(reportOf(request, options()));
    return successAnswer;
  },
};

const reportGpsPosition: CompanyRoute = {
  ...gatewayWrite,
  access: reporters,
  name: "reportGpsPosition",
  summary: "Report GPS position",
  path: "/event/gps/{companyCode}",
  async run({ operations, options }, request) {
    await operations.reportGpsPosition(reportOf(request, options()));
    return successAnswer;
  },
};

export const eventRoutes: readonly Route[] = [reportRouteEvent, reportGpsPosition];
