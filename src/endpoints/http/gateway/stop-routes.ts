/** Stops and ASNs of the gateway (specification/gateway.md#operations). */
import { importAsns, importStops } from "../../../operations/imports/import-stops.ts";
import { rejectAsn, rejectStop } from "../../../operations/stops/reject-stop.ts";
import { assignStopCarrier, unassignStopCarrier } from "../../../operations/stops/stop-carrier.ts";
import { stopDetailBytes } from "../../../operations/stops/stop-detail.ts";
import type { HttpOptions } from "../server/http-options.ts";
import type { CompanyRoute, OperationRequest } from "../server/route.ts";
import {
  answersDocument,
  answersSuccess,
  bodyOf,
  gatewayRead,
  gatewayWrite,
  param,
  serviceImportOf,
} from "./route-helpers.ts";

/** The body of an operation on the stop that the path names. */
function bodyForStop(request: OperationRequest, options: HttpOptions) {
  return { ...bodyOf(request, options), stopNbr: param(request, "stopNbr") };
}

export const stopRoutes: readonly CompanyRoute[] = [
  {
    ...gatewayRead,
    name: "getStopDetail",
    summary: "Get stop detail",
    path: "/stop/info/{stopNbr}/{companyCode}",
    run: answersDocument(stopDetailBytes, (request) => ({
      companyId: request.companyId,
      stopNbr: param(request, "stopNbr"),
    })),
  },
  {
    ...gatewayWrite,
    name: "importStops",
    summary: "Import stops",
    path: "/stop/update/{serviceName}/{companyCode}",
    isMappable: true,
    takesLarge: true,
    run: answersSuccess(importStops, serviceImportOf),
  },
  {
    ...gatewayWrite,
    name: "assignStopCarrier",
    summary: "Assign stop to carrier",
    path: "/stop/assign/carrier/{stopNbr}/{companyCode}",
    run: answersSuccess(assignStopCarrier, bodyForStop),
  },
  {
    ...gatewayWrite,
    name: "unassignStopCarrier",
    summary: "Unassign stop from carrier",
    path: "/stop/unassign/carrier/{stopNbr}/{companyCode}",
    run: answersSuccess(unassignStopCarrier, bodyForStop),
  },
  {
    ...gatewayWrite,
    name: "rejectStop",
    summary: "Delete/reject stop",
    path: "/stop/cancel/{companyCode}",
    run: answersSuccess(rejectStop, bodyOf),
  },
  {
    ...gatewayWrite,
    name: "importAsns",
    summary: "Import ASN",
    path: "/asn/update/{serviceName}/{companyCode}",
    isMappable: true,
    takesLarge: true,
    run: answersSuccess(importAsns, serviceImportOf),
  },
  {
    ...gatewayWrite,
    name: "rejectAsn",
    summary: "Delete/reject ASN",
    path: "/asn/cancel/{companyCode}",
    run: answersSuccess(rejectAsn, bodyOf),
  },
];
