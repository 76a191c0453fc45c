/** The operations on customers (specification/gateway.md#operations). */
import { importCustomers } from "../../../operations/imports/import-customers.ts";
import { readCustomerDetail } from "../../../operations/orders/customer-detail.ts";
import { CustomerDeletion, deleteCustomer } from "../../../operations/orders/delete-customer.ts";
import { bodyErrors, type CompanyOperation, importErrors, jsonAnswerOf } from "../openapi/api-description.ts";
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

const customerRead = { ...gatewayRead, version: "v6", tag: "Customers" } as const;
const customerWrite = { ...gatewayWrite, version: "v6", tag: "Customers" } as const;

export const customerOperations: readonly CompanyOperation[] = [
  {
    ...customerRead,
    name: "getCustomerDetail",
    summary: "Get customer detail",
    path: "/customer/info/{accountNumber}/{companyCode}",
    description: "The customer as it was sent last.",
    answer: jsonAnswerOf("The customer, in a list of one.", CustomerRetrieval, { Customer: [customer] }),
    after: ["importCustomers"],
    errors: ["customerNotFound"],
    run: answersDocument(readCustomerDetail, numbered("accountNumber")),
  },
  {
    ...customerWrite,
    name: "importCustomers",
    summary: "Import customers",
    path: "/customer/update/{companyCode}",
    takesLarge: true,
    description: `Creates or replaces customers. ${allOrNothing}`,
    request: { schema: CustomerImport, example: { companyCode: "DEMO", customers: [customer] } },
    errors: importErrors,
    run: answersSuccess(importCustomers, importOf),
  },
  {
    ...customerWrite,
    name: "deleteCustomer",
    summary: "Delete customer",
    path: "/customer/delete/{companyCode}",
    description: "Deletes a customer. An import brings it back.",
    request: { schema: withCompany(CustomerDeletion), example: { accountNumber: "C-100" } },
    after: ["importCustomers"],
    errors: [...bodyErrors, "customerNotFound"],
    run: answersSuccess(deleteCustomer, bodyOf),
  },
];
