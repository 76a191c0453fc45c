/** The routes for customers (specification/gateway.md#operations). */
import { importCustomers } from "../../../operations/imports/import-customers.ts";
import { customerDetailBytes } from "../../../operations/orders/customer-detail.ts";
import { deleteCustomer } from "../../../operations/orders/delete-customer.ts";
import type { CompanyRoute } from "../server/route.ts";
import {
  answersDocument,
  answersSuccess,
  bodyOf,
  gatewayRead,
  gatewayWrite,
  importOf,
  param,
} from "./route-helpers.ts";

export const customerRoutes: readonly CompanyRoute[] = [
  {
    ...gatewayRead,
    version: "v6",
    name: "getCustomerDetail",
    summary: "Get customer detail",
    path: "/customer/info/{accountNumber}/{companyCode}",
    run: answersDocument(customerDetailBytes, (request) => ({
      companyId: request.companyId,
      accountNumber: param(request, "accountNumber"),
    })),
  },
  {
    ...gatewayWrite,
    version: "v6",
    name: "importCustomers",
    summary: "Import customers",
    path: "/customer/update/{companyCode}",
    takesLarge: true,
    run: answersSuccess(importCustomers, importOf),
  },
  {
    ...gatewayWrite,
    version: "v6",
    name: "deleteCustomer",
    summary: "Delete customer",
    path: "/customer/delete/{companyCode}",
    run: answersSuccess(deleteCustomer, bodyOf),
  },
];
