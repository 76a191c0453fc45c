/** Loads of the gateway, results of imports and recorded events (specification/gateway.md#operations). */
import { documentAnswer, jsonAnswer, successAnswer } from "../server/answer.ts";
import type { CompanyRoute, Route } from "../server/route.ts";
import { bodyOf, gatewayRead, gatewayWrite, param, serviceImportOf } from "./route-helpers.ts";

const getLoadDetail: CompanyRoute = {
  ...gatewayRead,
  name: "getLoadDetail",
  summary: "Get load detail",
  path: "/load/info/{loadNbr}/{companyCode}",
  run({ operations }, request) {
    const { companyId } = request;
    return documentAnswer(operations.readLoadDetail({ companyId, loadNbr: param(request, "loadNbr") }));
  },
};

const importLoads: CompanyRoute = {
  ...gatewayWrite,
  name: "importLoads",
  summary: "Import loads (asynchronous)",
  path: "/load/update/{serviceName}/{companyCode}",
  isMappable: true,
  takesLarge: true,
  async run({ operations, options }, request) {
    const { maxLoads, maxEntries: maxStops, unknownFields } = options();
    const { importId } = await operations.importLoads({
      ...serviceImportOf(request, options()),
      rules: { maxEntries: maxLoads, unknownFields },
      maxStops,
      userName: request.userName,
    });
    return jsonAnswer(JSON.stringify({ status: "Success", importId }));
  },
};

function carrierRoute(operation: "assignLoadCarrier" | "unassignLoadCarrier"): CompanyRoute {
  const isAssigning = operation === "assignLoadCarrier";
  return {
    ...gatewayWrite,
    name: operation,
    summary: isAssigning ? "Assign load to carrier" : "Unassign load from carrier",
    path: `/load/${isAssigning ? "assign" : "unassign"}/carrier/{loadNbr}/{companyCode}`,
    async run({ operations, options }, request) {
      await operations[operation]({ ...bodyOf(request, options()), loadNbr: param(request, "loadNbr") });
      return successAnswer;
    },
  };
}

/** The number stands in the path, or in the body. */
function driverRoutes(operation: "assignLoadDriver" | "unassignLoadDriver"): readonly CompanyRoute[] {
  const isAssigning = operation === "assignLoadDriver";
  const summary = isAssigning ? "Assign load to driver" : "Unassign load from driver";
  const path = `/load/${isAssigning ? "assign" : "unassign"}/driver`;
  return [
    {
      ...gatewayWrite,
      name: operation,
      summary,
      path: `${path}/{loadNbr}/{companyCode}`,
      isBodyOptional: !isAssigning,
      async run({ operations, options }, request) {
        await operations[operation]({ ...bodyOf(request, options()), loadNbr: param(request, "loadNbr") });
        return successAnswer;
      },
    },
    {
      ...gatewayWrite,
      name: `${operation}ByBody`,
      summary: `${summary}, with loadNbr in the body`,
      path: `${path}/{companyCode}`,
      async run({ operations, options }, request) {
        await operations[operation](bodyOf(request, options()));
        return successAnswer;
      },
    },
  ];
}

const cancelLoad: CompanyRoute = {
  ...gatewayWrite,
  name: "cancelLoad",
  summary: "Cancel load",
  path: "/load/cancel/{companyCode}",
  async run({ operations, options }, request) {
    await operations.cancelLoad(bodyOf(request, options()));
    return successAnswer;
  },
};

const getImportInfo: CompanyRoute = {
  ...gatewayRead,
  name: "getImportInfo",
  summary: "Result of an asynchronous import",
  path: "/import/info/{importId}/{companyCode}",
  async run({ operations }, request) {
    const { companyId } = request;
    const info = await operations.readImportInfo({ companyId, importId: param(request, "importId") });
    return jsonAnswer(JSON.stringify(info));
  },
};

const listEvents: CompanyRoute = {
  ...gatewayRead,
  name: "listEvents",
  summary: "Recorded events of a stop or load",
  path: "/event/list/{companyCode}",
  query: "own",
  async run({ operations }, { companyId, query }) {
    return jsonAnswer(JSON.stringify(await operations.readEventList({ companyId, parameters: query })));
  },
};

export const loadRoutes: readonly Route[] = [
  getLoadDetail,
  importLoads,
  carrierRoute("assignLoadCarrier"),
  carrierRoute("unassignLoadCarrier"),
  ...driverRoutes("assignLoadDriver"),
  ...driverRoutes("unassignLoadDriver"),
  cancelLoad,
  getImportInfo,
  listEvents,
];
