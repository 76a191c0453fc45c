/** The routes for customer orders (specification/gateway.md#operations). */
import { importOrders } from "../../../operations/imports/import-orders.ts";
import { orderDetailBytes } from "../../../operations/orders/order-detail.ts";
import { rejectOrder } from "../../../operations/orders/reject-order.ts";
import type { CompanyRoute } from "../server/route.ts";
import {
  answersDocument,
  answersSuccess,
  bodyOf,
  gatewayRead,
  gatewayWrite,
  param,
  serviceImportOf,
} from "./route-helpers.ts";

export const orderRoutes: readonly CompanyRoute[] = [
  {
    ...gatewayRead,
    version: "v6",
    name: "getOrderDetail",
    summary: "Get order detail",
    path: "/order/info/{orderNbr}/{companyCode}",
    run: answersDocument(orderDetailBytes, (request) => ({
      companyId: request.companyId,
      orderNbr: param(request, "orderNbr"),
    })),
  },
  {
    ...gatewayWrite,
    version: "v6",
    name: "importOrders",
    summary: "Import orders",
    path: "/order/update/{serviceName}/{companyCode}",
    isMappable: true,
    takesLarge: true,
    run: answersSuccess(importOrders, serviceImportOf),
  },
  {
    ...gatewayWrite,
    version: "v6",
    name: "rejectOrder",
    summary: "Delete/reject order",
    path: "/order/cancel/{companyCode}",
    run: answersSuccess(rejectOrder, bodyOf),
  },
];
