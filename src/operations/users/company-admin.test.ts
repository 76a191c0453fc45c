import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findCompany, listCompanies } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { addCompany } from "./company-admin.ts";

const clock = { now: () => 1_000 };
let directory: string;
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-companies-"));
  store = await openFreshStore(directory);
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

it("a company is new once, found in any case and shown as it was registered", async () => {
  const first = await addCompany({ store, clock }, "Acme_1");
  const second = await addCompany({ store, clock }, "ACME_1");
  expect([first.isNew, second.isNew]).toEqual([true, false]);
  expect(second.company).toEqual(first.company);
  expect(await findCompany(store.read, "aCME_1")).toEqual({
    id: first.company.id,
    code: "Acme_1",
    createdAt: 1_000,
    profile: {},
  });
  expect(await findCompany(store.read, "other")).toBeUndefined();
});

it("companies are listed by code without regard to case", async () => {
  for (const code of ["b", "A", "C"]) await addCompany({ store, clock }, code);
  expect((await listCompanies(store.read)).map(({ code }) => code)).toEqual(["A", "b", "C"]);
});

it("two that add the same code at once both get the one company", async () => {
  const answers = await Promise.all(["X", "x"].map((code) => addCompany({ store, clock }, code)));
  expect(answers.map(({ isNew }) => isNew)).toEqual([true, false]);
});

it.each(["", "A".repeat(21), "A B", "Ä", "../x", "A\n"])("the code %j is refused", async (code) => {
  await expect(addCompany({ store, clock }, code)).rejects.toMatchObject({ code: "wrongType" });
});
