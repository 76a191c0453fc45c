import { expect, test } from "vitest";
import type { Role } from "../../../../../domain/users/role.ts";
import { consoleRequest, consoleUser } from "../../testing/viewer.ts";
import type { HostFound } from "./hosts-view.ts";
import { receiptsSection } from "./hosts-receipts.ts";

const company = { id: 1, code: "ACME", roles: ["DI_Integration"] as readonly Role[] };
const found: HostFound = {
  receipts: [
    {
      ...{ reference: "r1", name: "4711_20261105_080000.xml", state: "applied", userName: "host" },
      ...{ receivedAt: 1, decidedAt: 2, faults: [] },
    },
  ],
  ...{ before: undefined, searchedTo: undefined, integrations: [] },
};

function shownTo(roles: readonly Role[]): string {
  const companies = [
    { ...company, roles },
    { id: 2, code: "OTHER", roles: ["DI_Inquiry"] as readonly Role[] },
  ];
  const request = consoleRequest({ user: consoleUser({ companies }) });
  const services = { basePath: () => "" } as Parameters<typeof receiptsSection>[0];
  return receiptsSection(services, request, { company, found, ofAll: false }).text;
}

test("a receipt leads to the page of its file for who may look at this company, not only at another", () => {
  expect(shownTo(["DI_Integration", "DI_Inquiry"])).toContain('href="/console/files/r1"');
  expect(shownTo(["DI_Integration"])).not.toContain('href="/console/files/r1"');
  expect(shownTo(["DI_Integration"])).toContain("4711_20261105_080000.xml");
});
