/** The API document's texts and examples for orders, customers, business partners and users. */
import { type ApiDescriptions, bodyErrors, importErrors, jsonAnswerOf, success } from "./api-description.ts";
import { openStopExecution } from "./api-stop-descriptions.ts";
import {
  BusinessPartnerImport,
  CustomerDeletionBody,
  CustomerImport,
  CustomerRetrieval,
  OrderCancellationBody,
  OrderImport,
  OrderRetrieval,
  UserImport,
} from "./api-schemas.ts";

const address = {
  name: "Garden Centre",
  addr1: "8 Elm Lane",
  city: "Springfield",
  state: "IL",
  country: "US",
};

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

const customer = {
  accountNumber: "C-100",
  name: "Garden Centre Ltd",
  status: "ACTIVE",
  contracts: [{ contractCode: "STD" }],
  billTo: { address, contact: { contactName: "Accounts", email: "accounts@example.com" } },
  addresses: [{ label: "Main gate", address, operatingHours: { timeFrom: "08:00:00", timeTo: "17:30:00" } }],
};

const user = {
  userName: "rmiller",
  password: "change-me-4711",
  firstName: "Rosa",
  lastName: "Miller",
  email: "rosa.miller@example.com",
  cdlNumber: "M5550123",
  enabled: true,
  assignedGroups: "CARRIER1",
  userRoles: [{ role: [{ role: "DI_Driver" }] }],
};

const allOrNothing =
  "All or nothing: one faulty entry refuses the request, with a reason for each fault and its path.";

export const orderDescriptions: ApiDescriptions = {
  getOrderDetail: {
    tag: "Orders",
    description:
      "The order as it was sent last, with what was captured. `orderStatus` is the state of its stop, `stopExecutionInfo` its execution; a deleted order has its `cancellation`.",
    answer: jsonAnswerOf("The order, in a list of one.", OrderRetrieval, {
      Order: [{ ...order, orderStatus: "10", stopExecutionInfo: openStopExecution }],
    }),
    errors: ["orderNotFound"],
  },
  importOrders: {
    tag: "Orders",
    description: `Creates or replaces orders; each owns the stop of its number, which is created or replaced with it. ${allOrNothing}`,
    request: { schema: OrderImport, example: { companyCode: "DEMO", orders: [order] } },
    answer: success,
    errors: [...importErrors, "unknownService", "partnerNotFound", "stopInTransit", "finalState"],
  },
  rejectOrder: {
    tag: "Orders",
    description:
      "Deletes (rejects) an order with a reason, while its stop is in 05 or 10, or it has none; the stop with it.",
    request: {
      schema: OrderCancellationBody,
      example: { orderNbr: "4001", reasonCode: "CUSTOMER", reasonComments: "Ordered twice." },
    },
    answer: success,
    errors: [...bodyErrors, "orderNotFound", "orderNotDeletable"],
  },
  getCustomerDetail: {
    tag: "Customers",
    description: "The customer as it was sent last.",
    answer: jsonAnswerOf("The customer, in a list of one.", CustomerRetrieval, { Customer: [customer] }),
    errors: ["customerNotFound"],
  },
  importCustomers: {
    tag: "Customers",
    description: `Creates or replaces customers. ${allOrNothing}`,
    request: { schema: CustomerImport, example: { companyCode: "DEMO", customers: [customer] } },
    answer: success,
    errors: importErrors,
  },
  deleteCustomer: {
    tag: "Customers",
    description: "Deletes a customer. An import brings it back.",
    request: { schema: CustomerDeletionBody, example: { accountNumber: "C-100" } },
    answer: success,
    errors: [...bodyErrors, "customerNotFound"],
  },
  updateBusinessPartners: {
    tag: "Business partners",
    description: `Creates or updates carriers, to which loads and stops are assigned. ${allOrNothing}`,
    request: {
      schema: BusinessPartnerImport,
      example: {
        companyCode: "DEMO",
        businessPartners: [{ partnerCode: "CARRIER1", partnerName: "Quick Haulage", partnerType: "Carrier" }],
      },
    },
    answer: success,
    errors: importErrors,
  },
  updateUsers: {
    tag: "Users",
    description:
      `Creates users, or updates those of the same \`userName\`; the password changes only when one is sent. ${allOrNothing} ` +
      "A `DI_Dispatcher` cannot grant `MemberAdmin`. A driver belongs to the carriers of `assignedGroups` and `accountNumber`.",
    request: { schema: UserImport, example: { companyCode: "DEMO", users: [user] } },
    answer: success,
    errors: importErrors,
  },
};
