/** What adding a company in the console leaves: its row, its folders, where it delivers, and a row in the audit. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type ActSite, openActSite } from "../../../../test/support/console-acts.ts";
import type { ConsoleUser } from "../../../endpoints/http/console/console-user.ts";
import { ledgerOfEachTest } from "../../../inbound/testing/ledger-fixture.ts";
import { findCompany, listCompanies } from "../../../store/accounts/companies.ts";
import { listOutboundTargets } from "../../../store/outbound/outbound-targets.ts";

const ledger = ledgerOfEachTest();
const now = 1_700_000_000_000;
let site: ActSite;
let olga: ConsoleUser;
let anna: ConsoleUser;

beforeEach(async () => {
  site = await openActSite({ store: ledger.store, stateDir: ledger.stateDir, now });
  olga = await site.user("olga", ["DI_Inquiry"], ledger.companyId, true);
  anna = await site.user("anna", ["MemberAdmin"], ledger.companyId);
});

const add = (code: string, name = "", user = olga) =>
  site.act("company.add", { user, companyId: undefined, reason: "new customer" }, { code, name });
const folderOf = (code: string) => join(ledger.stateDir, "companies", code, "inbound");

test("it is there with its folders, and delivers by its configuration at once", async () => {
  expect(await add("GLOBEX", "Globex Foods")).toEqual({ code: "GLOBEX" });
  const company = await findCompany(ledger.store.read, "globex");
  expect(company).toMatchObject({ code: "GLOBEX", createdAt: now, profile: { name: "Globex Foods" } });
  expect(existsSync(folderOf("GLOBEX"))).toBe(true);
  const targets = (await listOutboundTargets(ledger.store.read)).filter(
    (one) => one.companyId === company?.id,
  );
  expect(targets.map(({ name }) => name)).toEqual(["outbound"]);
  const [entry, ...more] = await site.audit();
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ kind: "company.add", subject: "company GLOBEX", userName: "olga" });
  expect(JSON.parse(entry?.after ?? "")).toEqual({ code: "GLOBEX", name: "Globex Foods" });
});

test("without a name it has none", async () => {
  await add("NAMELESS");
  expect((await findCompany(ledger.store.read, "NAMELESS"))?.profile).toEqual({});
});

test("one that is there in any case is refused, noted no second time, and gets the folders that it lacks", async () => {
  await add("Globex");
  await rm(folderOf("Globex"), { recursive: true });
  await expect(add("GLOBEX", "Other")).rejects.toMatchObject({
    ...{ kind: "changed", message: expect.stringContaining("there is a company Globex already") },
  });
  expect((await findCompany(ledger.store.read, "globex"))?.profile).toEqual({});
  expect([existsSync(folderOf("Globex")), existsSync(folderOf("GLOBEX"))]).toEqual([true, false]);
  expect(await site.audit()).toHaveLength(1);
});

test.each([
  ["no code", "", /company code/],
  ["../up", "", /company code/],
  ["GLOBEX", "a\u0007b", /name has control characters/],
])("the code %j with the name %j is refused with what is wrong", async (code, name, why) => {
  await expect(add(code, name)).rejects.toThrow(why);
  expect(await listCompanies(ledger.store.read)).toHaveLength(1);
});

test("operators alone add one", async () => {
  await expect(add("GLOBEX", "", anna)).rejects.toMatchObject({ code: "roleMissing" });
  expect([await listCompanies(ledger.store.read), existsSync(folderOf("GLOBEX"))]).toMatchObject([
    [{ code: "ACME" }],
    false,
  ]);
});
