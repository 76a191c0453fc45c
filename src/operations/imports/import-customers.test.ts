import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findCustomer } from "../../store/accounts/customers.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { addCompany } from "../users/company-admin.ts";
import { importCustomers } from "./import-customers.ts";
import { defaultImportRules, type ImportRules } from "./import-request.ts";

const clock = { now: () => 1_000 };
let directory: string;
let store: Store;
let companyId: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-customers-"));
  store = await openFreshStore(directory);
  companyId = (await addCompany({ store, clock }, "ACME")).company.id;
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

function send(customers: readonly unknown[], rules: Partial<ImportRules> = {}): Promise<void> {
  const body = { companyCode: "acme", customers };
  const all = { ...defaultImportRules, ...rules };
  return importCustomers({ store, clock }, { companyId, companyCode: "ACME", body, rules: all });
}

async function read(accountNumber: string, of = companyId): Promise<unknown> {
  const customer = await findCustomer(store.read, { companyId: of, accountNumber });
  return customer === undefined ? undefined : JSON.parse(customer.body);
}

describe("an import of customers", () => {
  it("creates a customer, active unless the host says otherwise, with padded operating hours", async () => {
    const hours = { timeFrom: "8:0:0", timeTo: "17:30:00" };
    await send([
      { accountNumber: "C1", addresses: [{ label: "dock", operatingHours: hours }], colour: "red" },
      { accountNumber: "C2", status: "HOLD" },
    ]);
    expect(await read("C1")).toEqual({
      accountNumber: "C1",
      status: "ACTIVE",
      addresses: [{ label: "dock", operatingHours: { timeFrom: "08:00:00", timeTo: "17:30:00" } }],
      colour: "red",
    });
    expect(await read("C2")).toEqual({ accountNumber: "C2", status: "HOLD" });
  });

  it("replaces a customer that is there, and of two entries with one number keeps the later", async () => {
    await send([{ accountNumber: "C1", name: "old", contracts: [{ contractCode: "K" }] }]);
    await send([
      { accountNumber: "C1", name: "first" },
      { accountNumber: "C1", name: "second" },
    ]);
    expect(await read("C1")).toEqual({ accountNumber: "C1", name: "second", status: "ACTIVE" });
  });

  it("belongs to its company alone", async () => {
    const other = (await addCompany({ store, clock }, "OTHER")).company.id;
    await send([{ accountNumber: "C1" }]);
    expect(await read("C1", other)).toBeUndefined();
  });

  it("is refused as a whole with each fault and its path", async () => {
    const faulty = [
      { accountNumber: "GOOD" },
      { name: "without a number" },
      { accountNumber: "C3", addresses: [{ operatingHours: { timeFrom: "25:00:00" } }] },
      { accountNumber: "C4", billTo: { address: { zip: 12345 } } },
      { accountNumber: "C5", name: "x".repeat(2_001) },
    ];
    await expect(send(faulty)).rejects.toMatchObject({
      faults: [
        { code: "missing", path: "customers[1].accountNumber" },
        { code: "badDate", path: "customers[2].addresses[0].operatingHours.timeFrom" },
        { code: "wrongType", path: "customers[3].billTo.address.zip" },
        { code: "tooLong", path: "customers[4].name" },
      ],
    });
    expect(await read("GOOD")).toBeUndefined();
  });

  it("is refused when it has more entries than allowed, or, if asked for, unknown fields", async () => {
    const two = [{ accountNumber: "C1" }, { accountNumber: "C2", colour: "red" }];
    await expect(send(two, { maxEntries: 1 })).rejects.toMatchObject({ code: "tooLarge" });
    await expect(send(two, { unknownFields: "refuse" })).rejects.toMatchObject({
      faults: [{ code: "wrongType", path: "customers[1].colour" }],
    });
    expect(await read("C1")).toBeUndefined();
  });

  it("is refused for what stands beside the list and nobody knows, if that is asked for", async () => {
    const body = {
      companyCode: "ACME",
      customers: [{ accountNumber: "C1" }],
      customer: [],
      serviceName: "a",
      // Absent, like null in any field.
      colour: null,
    };
    const input = { companyId, companyCode: "ACME", body };
    const rules = { maxEntries: 10, unknownFields: "refuse" } as const;
    await expect(importCustomers({ store, clock }, { ...input, rules })).rejects.toMatchObject({
      faults: [
        { code: "wrongType", path: "customer" },
        { code: "wrongType", path: "serviceName" },
      ],
    });
    expect(await read("C1")).toBeUndefined();
    await importCustomers({ store, clock }, { ...input, rules: { ...rules, unknownFields: "keep" } });
    expect(await read("C1")).toMatchObject({ accountNumber: "C1" });
  });
});
