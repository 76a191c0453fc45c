import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { addCompany } from "../users/company-admin.ts";
import { readCustomerDetail } from "./customer-detail.ts";
import { importCustomers } from "../imports/import-customers.ts";

const clock = { now: () => 1_000 };
let directory: string;
let store: Store;
let companyId: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-customer-detail-"));
  store = await openFreshStore(directory);
  companyId = (await addCompany({ store, clock }, "ACME")).company.id;
  const body = { companyCode: "ACME", customers: [{ accountNumber: "C-1", name: "Müller", vip: true }] };
  await importCustomers({ store, clock }, { companyId, companyCode: "ACME", body });
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

describe("the detail of a customer", () => {
  it("is the customer as it was sent, in a list of one", async () => {
    const text = await readCustomerDetail({ store }, { companyId, accountNumber: "C-1" });
    expect(JSON.parse(text)).toEqual({
      Customer: [{ accountNumber: "C-1", name: "Müller", vip: true, status: "ACTIVE" }],
    });
  });

  it("of an unknown number, or one of another company, is 924", async () => {
    const other = (await addCompany({ store, clock }, "OTHER")).company.id;
    for (const query of [
      { companyId, accountNumber: "c/1" },
      { companyId: other, accountNumber: "C-1" },
    ]) {
      await expect(readCustomerDetail({ store }, query)).rejects.toMatchObject({ code: "customerNotFound" });
    }
  });
});
