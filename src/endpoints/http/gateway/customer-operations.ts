/** The operations on customers (specification/gateway.md#operations). */
import { importCustomers } from "../../../operations/imports/import-customers.ts";
import { readCustomerDetail } from "../../../operations/orders/customer-detail.ts";
import { CustomerDeletion, deleteCustomer } from "../../../operations/orders/delete-customer.ts";
import {
  bodyErrors,
  type CompanyOperation,
  importErrors,
  jsonAnswerOf,
  success,
} from "../openapi/api-description.ts";
import { CustomerImport, CustomerRetrieval, withCompany } from "../openapi/api-schemas.ts";
import {
  address,
  allOrNothing,
  answersDocument,
  answersSuccess,
  bodyOf,
  gatewayRead,
  gatewayWrite,
  importOf,
  numbered,
} from "./operation-parts.ts";

const customer = {
  accountNumber: "C-100",
  name: "Garden Centre Ltd",
  status: "ACTIVE",
  contracts: [{ contractCode: "STD" }],
  billTo: { address, contact: { contactName: "Accounts", email: "accounts@example.com" } },
  addresses: [{ label: "Main gate", address, operatingHours: { timeFrom: "08:00:00", timeTo: "17:30:00" } }],
};

export const customerOperations: readonly CompanyOperation[] = [
  {
    ...gatewayRead,
    version: "v6",
    name: "getCustomerDetail",
    summary: "Get customer detail",
    path: "/customer/info/{accountNumber}/{companyCode}",
    api: {
      tag: "Customers",
      description: "The customer as it was sent last.",
      answer: jsonAnswerOf("The customer, in a list of one.", CustomerRetrieval, { Customer: [customer] }),
      after: ["importCustomers"],
      errors: ["customerNotFound"],
    },
    run: answersDocument(readCustomerDetail, numbered("accountNumber")),
  },
  {
    ...gatewayWrite,
    version: "v6",
    name: "importCustomers",
    summary: "Import customers",
    path: "/customer/update/{companyCode}",
    takesLarge: true,
    api: {
      tag: "Customers",
      description: `Creates or replaces customers. ${allOrNothing}`,
      request: { schema: CustomerImport, example: { companyCode: "DEMO", customers: [customer] } },
      answer: success,
      errors: importErrors,
    },
    run: answersSuccess(importCustomers, importOf),
  },
  {
    ...gatewayWrite,
    version: "v6",
    name: "deleteCustomer",
    summary: "Delete customer",
    path: "/customer/delete/{companyCode}",
    api: {
      tag: "Customers",
      description: "Deletes a customer. An import brings it back.",
      request: { schema: withCompany(CustomerDeletion), example: { accountNumber: "C-100" } },
      answer: success,
      after: ["importCustomers"],
      errors: [...bodyErrors, "customerNotFound"],
    },
    run: answersSuccess(deleteCustomer, bodyOf),
  },
];
