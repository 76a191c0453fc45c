/** The routes for business partners and users (specification/gateway.md#operations). */
import type { Role } from "../../../domain/users/role.ts";
import { successAnswer } from "../server/answer.ts";
import type { CompanyRoute, Route } from "../server/route.ts";
import { gatewayWrite, importOf } from "./route-helpers.ts";

const updateBusinessPartners: CompanyRoute = {
  ...gatewayWrite,
  name: "updateBusinessPartners",
  summary: "Create or update business partners",
  path: "/businesspartner/update/{companyCode}",
  takesLarge: true,
  async run({ operations, options }, request) {
    await operations.importBusinessPartners(importOf(request, options()));
    return successAnswer;
  },
};

/** Who may create and change users (specification/accounts.md#roles-of-operations): never an integration user. */
const administration: readonly Role[] = ["MemberAdmin", "DI_Dispatcher"];

const updateUsers: CompanyRoute = {
  ...gatewayWrite,
  access: administration,
  name: "updateUsers",
  summary: "Create or update users",
  path: "/user/update/{companyCode}",
  takesLarge: true,
  async run({ operations, options }, request) {
    const input = { ...importOf(request, options()), callerRoles: request.roles };
    // Hashing many passwords takes a while: it does not begin when nobody waits for the answer any more.
    await operations.importUsers(input, request.signal());
    return successAnswer;
  },
};

export const userRoutes: readonly Route[] = [updateBusinessPartners, updateUsers];
