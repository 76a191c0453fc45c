import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findCustomer } from "../../store/accounts/customers.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { addCompany } from "../users/company-admin.ts";
import { deleteCustomer } from "./delete-customer.ts";
import { importCustomers } from "../imports/import-customers.ts";

const clock = { now: () => 1_000 };
let directory: string;
let store: Store;
let ids: { ACME: number; OTHER: number };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-delete-customer-"));
  store = await openFreshStore(directory);
  ids = {
    ACME: (await addCompany({ store, clock }, "ACME")).company.id,
    OTHER: (await addCompany({ store, clock }, "OTHER")).company.id,
  };
  await importInto("ACME");
  await importInto("OTHER");
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

async function importInto(companyCode: "ACME" | "OTHER"): Promise<void> {
  const body = { companyCode, customers: [{ accountNumber: "C1", name: companyCode }] };
  await importCustomers({ store, clock }, { companyId: ids[companyCode], companyCode, body });
}

function remove(body: unknown): Promise<void> {
  return deleteCustomer({ store }, { companyId: ids.ACME, companyCode: "ACME", body });
}

const isThere = async (code: "ACME" | "OTHER") =>
  (await findCustomer(store.read, { companyId: ids[code], accountNumber: "C1" })) !== undefined;

describe("deleting a customer", () => {
  it("removes it from its company alone, and an import brings it back", async () => {
    await remove({ accountNumber: "C1" });
    expect([await isThere("ACME"), await isThere("OTHER")]).toEqual([false, true]);
    await importInto("ACME");
    expect(await isThere("ACME")).toBe(true);
  });

  it("is 924 when there is none, also the second time", async () => {
    await expect(remove({ accountNumber: "c1" })).rejects.toMatchObject({ code: "customerNotFound" });
    await remove({ accountNumber: "C1" });
    await expect(remove({ accountNumber: "C1" })).rejects.toMatchObject({ code: "customerNotFound" });
  });

  it.each([
    ["no number", {}, "missing"],
    ["a number that is no text", { accountNumber: 1 }, "wrongType"],
    ["something else than an object", [], "wrongType"],
    ["the code of another company", { companyCode: "OTHER", accountNumber: "C1" }, "companyDiffers"],
  ])("with %s is refused", async (_, body, code) => {
    await expect(remove(body)).rejects.toMatchObject({ code });
    expect(await isThere("ACME")).toBe(true);
  });
});
