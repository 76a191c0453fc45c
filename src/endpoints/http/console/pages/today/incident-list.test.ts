import { expect, test } from "vitest";
import { type AlertKindName, alertKinds } from "../../../../../domain/alerts/alert-kinds.ts";
import { addresses } from "../../kit/link.ts";
import { mayUse } from "../../kit/navigation.ts";
import { consoleRoutes } from "../../routes.ts";
import { consoleUser } from "../../testing/viewer.ts";
import { pageOfIncident } from "./incident-list.ts";

const to = addresses({ basePath: () => "" });
const kinds = Object.keys(alertKinds) as AlertKindName[];
const looker = consoleUser({
  companies: [{ id: 7, code: "ACME", roles: ["DI_Inquiry"] }],
  isOperator: false,
});
const operator = consoleUser({ companies: looker.companies, isOperator: true });

function routeOf(address: string) {
  const [path = ""] = address.split(/[?#]/);
  return consoleRoutes.find((route) => route.method === "GET" && route.path === path);
}

test.each(kinds)(
  "an incident of %s leads to a page that the viewer may see, with what the company has",
  (kind) => {
    for (const viewer of [looker, operator])
      for (const company of ["ACME", undefined]) {
        const address = pageOfIncident(kind, { to, company, isOperator: viewer.isOperator });
        if (viewer.isOperator) expect(address).toBeDefined();
        if (address === undefined) continue;
        const route = routeOf(address);
        expect([address, route !== undefined && mayUse(viewer, route.who)]).toEqual([address, true]);
        if (address.includes("state=") && company !== undefined) expect(address).toContain("company=ACME");
      }
  },
);
