/** The routes for business partners and users (specification/gateway.md#operations). */
import type { Role } from "../../../domain/users/role.ts";
import { importBusinessPartners } from "../../../operations/imports/business-partners.ts";
import { importUsers } from "../../../operations/imports/import-users.ts";
import { successAnswer } from "../server/answer.ts";
import type { CompanyRoute } from "../server/route.ts";
import { answersSuccess, gatewayWrite, importOf } from "./route-helpers.ts";

/** Who may create and change users (specification/accounts.md#roles-of-operations): never an integration user. */
const administration: readonly Role[] = ["MemberAdmin", "DI_Dispatcher"];

export const userRoutes: readonly CompanyRoute[] = [
  {
    ...gatewayWrite,
    name: "updateBusinessPartners",
    summary: "Create or update business partners",
    path: "/businesspartner/update/{companyCode}",
    takesLarge: true,
    run: answersSuccess(importBusinessPartners, importOf),
  },
  {
    ...gatewayWrite,
    access: administration,
    name: "updateUsers",
    summary: "Create or update users",
    path: "/user/update/{companyCode}",
    takesLarge: true,
    run: async ({ call, options }, request) => {
      const input = { ...importOf(request, options()), callerRoles: request.roles };
      // Hashing many passwords takes a while: it does not begin when nobody waits for the answer any more.
      await call(importUsers, input, request.signal());
      return successAnswer;
    },
  },
];
