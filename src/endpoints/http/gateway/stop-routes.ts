/** Stops and ASNs of the gateway (specification/gateway.md#operations). */
import { documentAnswer, successAnswer } from "../server/answer.ts";
import type { HttpOperations } from "./http-operations.ts";
import type { CompanyRoute, Route } from "../server/route.ts";
import { bodyOf, gatewayRead, gatewayWrite, param, serviceImportOf } from "./route-helpers.ts";

const getStopDetail: CompanyRoute = {
  ...gatewayRead,
  name: "getStopDetail",
  summary: "Get stop detail",
  path: "/stop/info/{stopNbr}/{companyCode}",
  run({ operations }, request) {
    const { companyId } = request;
    return documentAnswer(operations.readStopDetail({ companyId, stopNbr: param(request, "stopNbr") }));
  },
};

function importRoute(
  route: Pick<CompanyRoute, "name" | "summary" | "path">,
  operation: "importStops" | "importAsns",
): CompanyRoute {
  return {
    ...gatewayWrite,
    ...route,
    isMappable: true,
    takesLarge: true,
    run({ operations, options }, request) {
      // Without a wait in here, which would hold the request and its body until the commit.
      return operations[operation](serviceImportOf(request, options())).then(() => successAnswer);
    },
  };
}

function carrierRoute(
  route: Pick<CompanyRoute, "name" | "summary" | "path">,
  operation: "assignStopCarrier" | "unassignStopCarrier",
): CompanyRoute {
  return {
    ...gatewayWrite,
    ...route,
    async run({ operations, options }, request) {
      await operations[operation]({ ...bodyOf(request, options()), stopNbr: param(request, "stopNbr") });
      return successAnswer;
    },
  };
}

function rejectRoute(
  route: Pick<CompanyRoute, "name" | "summary" | "path">,
  operation: keyof Pick<HttpOperations, "rejectStop" | "rejectAsn">,
): CompanyRoute {
  return {
    ...gatewayWrite,
    ...route,
    async run({ operations, options }, request) {
      await operations[operation](bodyOf(request, options()));
      return successAnswer;
    },
  };
}

export const stopRoutes: readonly Route[] = [
  getStopDetail,
  importRoute(
    { name: "importStops", summary: "Import stops", path: "/stop/update/{serviceName}/{companyCode}" },
    "importStops",
  ),
  carrierRoute(
    {
      name: "assignStopCarrier",
      summary: "Assign stop to carrier",
      path: "/stop/assign/carrier/{stopNbr}/{companyCode}",
    },
    "assignStopCarrier",
  ),
  carrierRoute(
    {
      name: "unassignStopCarrier",
      summary: "Unassign stop from carrier",
      path: "/stop/unassign/carrier/{stopNbr}/{companyCode}",
    },
    "unassignStopCarrier",
  ),
  rejectRoute(
    { name: "rejectStop", summary: "Delete/reject stop", path: "/stop/cancel/{companyCode}" },
    "rejectStop",
  ),
  importRoute(
    { name: "importAsns", summary: "Import ASN", path: "/asn/update/{serviceName}/{companyCode}" },
    "importAsns",
  ),
  rejectRoute(
    { name: "rejectAsn", summary: "Delete/reject ASN", path: "/asn/cancel/{companyCode}" },
    "rejectAsn",
  ),
];
