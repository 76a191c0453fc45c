/** The operations on customer orders (specification/gateway.md#operations). */
import { importOrders } from "../../../operations/imports/import-orders.ts";
import { readOrderDetail } from "../../../operations/orders/order-detail.ts";
import { rejectOrder } from "../../../operations/orders/reject-order.ts";
import { OrderCancellation } from "../../../operations/stops/cancellation-request.ts";
import {
  bodyErrors,
  type CompanyOperation,
  jsonAnswerOf,
  stopImportErrors,
} from "../openapi/api-description.ts";
import { OrderImport, OrderRetrieval, withCompany } from "../openapi/api-schemas.ts";
import {
  address,
  allOrNothing,
  answersDocument,
  answersSuccess,
  bodyOf,
  gatewayRead,
  gatewayWrite,
  numbered,
  openStopExecution,
  serviceImportOf,
} from "./operation-parts.ts";

const order = {
  orderNbr: "4001",
  accountNumber: "C-100",
  to: {
    address,
    schedule: { timeFrom: "2026-11-07T09:00:00", timeTo: "2026-11-07T11:00:00", timeZone: "America/Chicago" },
  },
  orderPriority: 1,
  stopDetails: [{ stopDetailSeq: 1, product: "Rose bush", quantity: 3, quantityUOM: "pieces" }],
};

const orderRead = { ...gatewayRead, version: "v6", tag: "Orders" } as const;
const orderWrite = { ...gatewayWrite, version: "v6", tag: "Orders" } as const;

export const orderOperations: readonly CompanyOperation[] = [
  {
    ...orderRead,
    name: "getOrderDetail",
    summary: "Get order detail",
    path: "/order/info/{orderNbr}/{companyCode}",
    description:
      "The order as it was sent last, with what was captured. `orderStatus` is the state of its stop, `stopExecutionInfo` its execution; a deleted order has its `cancellation`.",
    answer: jsonAnswerOf("The order, in a list of one.", OrderRetrieval, {
      Order: [{ ...order, orderStatus: "10", stopExecutionInfo: openStopExecution }],
    }),
    after: ["importOrders"],
    errors: ["orderNotFound"],
    run: answersDocument(readOrderDetail, numbered("orderNbr")),
  },
  {
    ...orderWrite,
    name: "importOrders",
    summary: "Import orders",
    path: "/order/update/{serviceName}/{companyCode}",
    isMappable: true,
    takesLarge: true,
    description: `Creates or replaces orders; each owns the stop of its number, which is created or replaced with it. ${allOrNothing}`,
    request: { schema: OrderImport, example: { companyCode: "DEMO", orders: [order] } },
    errors: stopImportErrors,
    run: answersSuccess(importOrders, serviceImportOf),
  },
  {
    ...orderWrite,
    name: "rejectOrder",
    summary: "Delete/reject order",
    path: "/order/cancel/{companyCode}",
    description:
      "Deletes (rejects) an order with a reason, while its stop is in 05 or 10, or it has none; the stop with it.",
    request: {
      schema: withCompany(OrderCancellation),
      example: { orderNbr: "4001", reasonCode: "CUSTOMER", reasonComments: "Ordered twice." },
    },
    after: ["importOrders"],
    errors: [...bodyErrors, "orderNotFound", "orderNotDeletable"],
    run: answersSuccess(rejectOrder, bodyOf),
  },
];
