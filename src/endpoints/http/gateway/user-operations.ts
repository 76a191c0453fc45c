/** The operations on business partners and users (specification/gateway.md#operations). */
import type { Role } from "../../../domain/users/role.ts";
import { importBusinessPartners } from "../../../operations/imports/business-partners.ts";
import { importUsers } from "../../../operations/imports/import-users.ts";
import { type CompanyOperation, importErrors } from "../openapi/api-description.ts";
import { BusinessPartnerImport, UserImport } from "../openapi/api-schemas.ts";
import { successAnswer } from "../server/answer.ts";
import { allOrNothing, answersSuccess, gatewayWrite, importOf } from "./operation-parts.ts";

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

/** Who may create and change users (specification/accounts.md#roles-of-operations): never an integration user. */
const administration: readonly Role[] = ["MemberAdmin", "DI_Dispatcher"];

export const userOperations: readonly CompanyOperation[] = [
  {
    ...gatewayWrite,
    name: "updateBusinessPartners",
    summary: "Create or update business partners",
    path: "/businesspartner/update/{companyCode}",
    takesLarge: true,
    tag: "Business partners",
    description: `Creates or updates carriers, to which loads and stops are assigned. ${allOrNothing}`,
    request: {
      schema: BusinessPartnerImport,
      example: {
        companyCode: "DEMO",
        businessPartners: [{ partnerCode: "CARRIER1", partnerName: "Quick Haulage", partnerType: "Carrier" }],
      },
    },
    errors: importErrors,
    run: answersSuccess(importBusinessPartners, importOf),
  },
  {
    ...gatewayWrite,
    access: administration,
    name: "updateUsers",
    summary: "Create or update users",
    path: "/user/update/{companyCode}",
    takesLarge: true,
    tag: "Users",
    description:
      `Creates users, or updates those of the same \`userName\`; the password changes only when one is sent. ${allOrNothing} ` +
      "A `DI_Dispatcher` cannot grant `MemberAdmin`. A driver belongs to the carriers of `assignedGroups` and `accountNumber`.",
    request: { schema: UserImport, example: { companyCode: "DEMO", users: [user] } },
    errors: importErrors,
    run: async ({ call, options }, request) => {
      const input = { ...importOf(request, options()), callerRoles: request.roles };
      // Hashing many passwords takes a while: it does not begin when nobody waits for the answer any more.
      await call(importUsers, input, request.signal());
      return successAnswer;
    },
  },
];
