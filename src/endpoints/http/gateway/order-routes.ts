/** The routes for customer orders (specification/gateway.md#operations). */
import { documentAnswer, successAnswer } from "../server/answer.ts";
import type { CompanyRoute, Route } from "../server/route.ts";
import { bodyOf, gatewayRead, gatewayWrite, param, serviceImportOf } from "./route-helpers.ts";

const getOrderDetail: CompanyRoute = {
  ...gatewayRead,
  version: "v6",
  name: "getOrderDetail",
  summary: "Get order detail",
  path: "/order/info/{orderNbr}/{companyCode}",
  run({ operations }, request) {
    const { companyId } = request;
    return documentAnswer(operations.readOrderDetail({ companyId, orderNbr: param(request, "orderNbr") }));
  },
};

const importOrders: CompanyRoute = {
  ...gatewayWrite,
  version: "v6",
  name: "importOrders",
  summary: "Import orders",
  path: "/order/update/{serviceName}/{companyCode}",
  isMappable: true,
  takesLarge: true,
  async run({ operations, options }, request) {
    await operations.importOrders(serviceImportOf(request, options()));
    return successAnswer;
  },
};

const rejectOrder: CompanyRoute = {
  ...gatewayWrite,
  version: "v6",
  name: "rejectOrder",
  summary: "Delete/reject order",
  path: "/order/cancel/{companyCode}",
  async run({ operations, options }, request) {
    await operations.rejectOrder(bodyOf(request, options()));
    return successAnswer;
  },
};

export const orderRoutes: readonly Route[] = [getOrderDetail, importOrders, rejectOrder];
