/** Every pair of role and operation (specification/accounts.md#roles-of-operations), from the table of routes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roles } from "../../src/domain/users/role.ts";
import type { CompanyRoute } from "../../src/endpoints/http/server/route.ts";
import { routes } from "../../src/endpoints/http/routes.ts";
import { http, type HttpReply } from "../support/clients.ts";
import { company, lenient, Site } from "../support/daemon.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make({ security: lenient });
  await site.mustRun("company", "add", "OTHER");
  for (const role of roles) await site.addUser(`only-${role}`, [role]);
  await site.start();
});
afterAll(() => site.end());

const guarded = routes.filter((route): route is CompanyRoute => route.access !== "public");

function ask(route: CompanyRoute, userName: string, companyCode = company): Promise<HttpReply> {
  const path = route.path.replace("{companyCode}", companyCode).replaceAll(/\{\w+\}/g, "none");
  const isXml = route.body === "xml";
  const content = isXml ? "<Stop/>" : "{}";
  return http(site, route.version === "none" ? path : `/${route.version}${path}`, {
    userName,
    method: route.method,
    ...(route.body === "none" ? {} : { body: content, type: isXml ? "application/xml" : "application/json" }),
  });
}

test("all operations of the gateway but public ones ask for a role", () => {
  expect(guarded.length).toBeGreaterThanOrEqual(30);
  expect(guarded.filter(({ access }) => access.length === 0)).toEqual([]);
});

describe.each(guarded.map((route) => [route.name, route] as const))("%s", (_name, route) => {
  test.each(roles)("as %s", async (role) => {
    const reply = await ask(route, `only-${role}`);
    if (route.access.includes(role)) {
      // What the operation says to an empty request is its own matter, but it has been reached.
      expect([200, 400, 404, 409]).toContain(reply.status);
      return;
    }
    expect(reply.status).toBe(403);
    expect(reply.body).toContain("932");
  });

  test("a company that is not the user's is refused in the same words whether it exists or not", async () => {
    const foreign = await ask(route, "only-DI_Integration", "OTHER");
    const unknown = await ask(route, "only-DI_Integration", "NEVER");
    expect([foreign.status, unknown.status]).toEqual([401, 401]);
    expect(foreign.body).toContain("930");
    expect(unknown.body).toBe(foreign.body);
  });
});
