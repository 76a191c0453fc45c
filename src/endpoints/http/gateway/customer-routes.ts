/** The routes for customers (specification/gateway.md#operations). */
import { documentAnswer, successAnswer } from "../server/answer.ts";
import type { CompanyRoute, Route } from "../server/route.ts";
import { bodyOf, gatewayRead, gatewayWrite, importOf, param } from "./route-helpers.ts";

const getCustomerDetail: CompanyRoute = {
  ...gatewayRead,
  version: "v6",
  name: "getCustomerDetail",
  summary: "Get customer detail",
  path: "/customer/info/{accountNumber}/{companyCode}",
  run({ operations }, request) {
    const { companyId } = request;
    const accountNumber = param(request, "accountNumber");
    return documentAnswer(operations.readCustomerDetail({ companyId, accountNumber }));
  },
};

const importCustomers: CompanyRoute = {
  ...gatewayWrite,
  version: "v6",
  name: "importCustomers",
  summary: "Import customers",
  path: "/customer/update/{companyCode}",
  takesLarge: true,
  async run({ operations, options }, request) {
    await operations.importCustomers(importOf(request, options()));
    return successAnswer;
  },
};

const deleteCustomer: CompanyRoute = {
  ...gatewayWrite,
  version: "v6",
  name: "deleteCustomer",
  summary: "Delete customer",
  path: "/customer/delete/{companyCode}",
  async run({ operations, options }, request) {
    await operations.deleteCustomer(bodyOf(request, options()));
    return successAnswer;
  },
};

export const customerRoutes: readonly Route[] = [getCustomerDetail, importCustomers, deleteCustomer];
