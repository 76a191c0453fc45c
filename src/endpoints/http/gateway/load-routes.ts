/** Loads of the gateway, results of imports and recorded events (specification/gateway.md#operations). */
import { readImportInfo } from "../../../operations/imports/import-info.ts";
import { importLoads, type LoadImport } from "../../../operations/imports/import-loads.ts";
import {
  assignLoadCarrier,
  assignLoadDriver,
  unassignLoadCarrier,
  unassignLoadDriver,
} from "../../../operations/loads/assign-load.ts";
import { cancelLoad } from "../../../operations/loads/cancel-load.ts";
import { loadDetailBytes } from "../../../operations/loads/load-detail.ts";
import { readEventList } from "../../../operations/stops/event-list.ts";
import { jsonAnswer } from "../server/answer.ts";
import type { HttpOptions } from "../server/http-options.ts";
import type { CompanyRoute, OperationRequest } from "../server/route.ts";
import {
  answersDocument,
  answersJson,
  answersSuccess,
  bodyOf,
  gatewayRead,
  gatewayWrite,
  param,
  serviceImportOf,
} from "./route-helpers.ts";

/** The body of an operation on the load that the path names. */
function bodyForLoad(request: OperationRequest, options: HttpOptions) {
  return { ...bodyOf(request, options), loadNbr: param(request, "loadNbr") };
}

function loadImportOf(request: OperationRequest, options: HttpOptions): LoadImport {
  const { maxLoads, maxEntries: maxStops, unknownFields } = options;
  const rules = { maxEntries: maxLoads, unknownFields };
  return { ...serviceImportOf(request, options), rules, maxStops, userName: request.userName };
}

export const loadRoutes: readonly CompanyRoute[] = [
  {
    ...gatewayRead,
    name: "getLoadDetail",
    summary: "Get load detail",
    path: "/load/info/{loadNbr}/{companyCode}",
    run: answersDocument(loadDetailBytes, (request) => ({
      companyId: request.companyId,
      loadNbr: param(request, "loadNbr"),
    })),
  },
  {
    ...gatewayWrite,
    name: "importLoads",
    summary: "Import loads (asynchronous)",
    path: "/load/update/{serviceName}/{companyCode}",
    isMappable: true,
    takesLarge: true,
    run: async ({ call, options }, request) => {
      const { importId } = await call(importLoads, loadImportOf(request, options()));
      return jsonAnswer(JSON.stringify({ status: "Success", importId }));
    },
  },
  {
    ...gatewayWrite,
    name: "assignLoadCarrier",
    summary: "Assign load to carrier",
    path: "/load/assign/carrier/{loadNbr}/{companyCode}",
    run: answersSuccess(assignLoadCarrier, bodyForLoad),
  },
  {
    ...gatewayWrite,
    name: "unassignLoadCarrier",
    summary: "Unassign load from carrier",
    path: "/load/unassign/carrier/{loadNbr}/{companyCode}",
    run: answersSuccess(unassignLoadCarrier, bodyForLoad),
  },
  {
    ...gatewayWrite,
    name: "assignLoadDriver",
    summary: "Assign load to driver",
    path: "/load/assign/driver/{loadNbr}/{companyCode}",
    run: answersSuccess(assignLoadDriver, bodyForLoad),
  },
  {
    ...gatewayWrite,
    name: "assignLoadDriverByBody",
    summary: "Assign load to driver, with loadNbr in the body",
    path: "/load/assign/driver/{companyCode}",
    run: answersSuccess(assignLoadDriver, bodyOf),
  },
  {
    ...gatewayWrite,
    name: "unassignLoadDriver",
    summary: "Unassign load from driver",
    path: "/load/unassign/driver/{loadNbr}/{companyCode}",
    isBodyOptional: true,
    run: answersSuccess(unassignLoadDriver, bodyForLoad),
  },
  {
    ...gatewayWrite,
    name: "unassignLoadDriverByBody",
    summary: "Unassign load from driver, with loadNbr in the body",
    path: "/load/unassign/driver/{companyCode}",
    run: answersSuccess(unassignLoadDriver, bodyOf),
  },
  {
    ...gatewayWrite,
    name: "cancelLoad",
    summary: "Cancel load",
    path: "/load/cancel/{companyCode}",
    run: answersSuccess(cancelLoad, bodyOf),
  },
  {
    ...gatewayRead,
    name: "getImportInfo",
    summary: "Result of an asynchronous import",
    path: "/import/info/{importId}/{companyCode}",
    run: answersJson(readImportInfo, (request) => ({
      companyId: request.companyId,
      importId: param(request, "importId"),
    })),
  },
  {
    ...gatewayRead,
    name: "listEvents",
    summary: "Recorded events of a stop or load",
    path: "/event/list/{companyCode}",
    query: "own",
    run: answersJson(readEventList, ({ companyId, query }) => ({ companyId, parameters: query })),
  },
];
