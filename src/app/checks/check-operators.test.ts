import { expect, test } from "vitest";
import { operatorFindings } from "./check-operators.ts";

const memberships = [{ companyId: 1, companyCode: "ACME", roles: ["MemberAdmin" as const] }];
const user = (userName: string, given: { isEnabled?: boolean; passwordHash?: string | null } = {}) => ({
  ...{ userName, memberships, isEnabled: true, passwordHash: "hash", ...given },
});
const users = [
  user("anna"),
  user("off", { isEnabled: false }),
  user("key", { passwordHash: null }),
  { ...user("other"), memberships: [{ ...memberships[0], companyId: 2, companyCode: "OTHER", roles: [] }] },
];

test.each([
  ["anna@NONE", "and there is no company NONE", "dropgate company add NONE"],
  ["berta@ACME", "and ACME has no user berta", "dropgate user add berta --company ACME --role MemberAdmin"],
  ["other@ACME", "and ACME has no user other", "dropgate user add other --company ACME --role MemberAdmin"],
  ["off@ACME", "who is disabled", "dropgate user enable off --company ACME"],
  ["key@ACME", "who has no password", "dropgate user set-password key --company ACME"],
])("%s is named: %s", (operator, what, remedy) => {
  const findings = operatorFindings({
    operators: ["anna@ACME", operator],
    companies: ["ACME", "OTHER"],
    users,
  });
  expect(findings).toHaveLength(1);
  expect(findings[0]).toMatchObject({ status: "warning" });
  expect(findings[0]?.what).toContain(`console.operators names ${operator}, ${what}`);
  expect(findings[0]?.remedy).toContain(remedy);
});

test("who can sign in is no fault, in whatever case the company is written, and nobody named is none", () => {
  const asked = { companies: ["ACME"], users };
  const found = (operators: readonly string[]) => operatorFindings({ ...asked, operators });
  expect(found(["anna@acme"])).toEqual([{ status: "ok", what: expect.stringContaining("1 user") }]);
  expect(found([])).toEqual([{ status: "ok", what: expect.stringContaining("nobody") }]);
});
