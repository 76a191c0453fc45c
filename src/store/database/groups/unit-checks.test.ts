import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary-folder.ts";
import { itOnSqlite } from "../../../../test/support/store-dialect.ts";
import { insertCompany, listCompanies } from "../../accounts/companies.ts";
import { isPartner, savePartner } from "../../accounts/partners.ts";
import { openStore, type Store } from "../database.ts";

let store: Store;

async function open(checks: string): Promise<void> {
  vi.stubEnv("DROPGATE_CHECK_UNITS", checks);
  onTestFinished(() => void vi.unstubAllEnvs());
  store = await openStore(temporaryFolder());
  onTestFinished(() => store.close());
}

describe("a unit of work that is checked", () => {
  beforeEach(() => open("1"));

  it("is run twice, and writes once", async () => {
    let runs = 0;
    const { company } = await store.write("site", (tx) => {
      runs += 1;
      return insertCompany(tx, { code: "ACME", createdAt: 1 });
    });
    expect(runs).toBe(2);
    expect((await listCompanies(store.read)).map(({ id }) => id)).toEqual([company.id]);
  });

  it("fails when it counts outside of the database", async () => {
    let count = 0;
    const counted = store.write("site", async () => {
      count += 1;
      return count;
    });
    await expect(counted).rejects.toThrow(/ended otherwise when it was run again/);
  });

  it("fails when it does something only the first time", async () => {
    const known = new Set<string>();
    const noted = store.write("site", async (tx) => {
      if (known.has("ACME")) return;
      known.add("ACME");
      await insertCompany(tx, { code: "ACME", createdAt: 1 });
      throw new Error("refused");
    });
    await expect(noted).rejects.toThrow(/ended otherwise when it was run again/);
  });

  itOnSqlite("fails when it waits for something else than the database", async () => {
    const waiting = store.write("site", async (tx) => {
      await insertCompany(tx, { code: "ACME", createdAt: 1 });
      await setImmediate();
    });
    await expect(waiting).rejects.toThrow(/waited for something else than the database/);
    expect(await listCompanies(store.read)).toEqual([]);
  });

  it("may wait for thousands of statements", async () => {
    await store.write("site", async (tx) => {
      for (let index = 0; index < 2_000; index += 1)
        await insertCompany(tx, { code: `C${index}`, createdAt: 1 });
    });
    expect(await listCompanies(store.read)).toHaveLength(2_000);
  });

  it("fails when it writes a row of another company than it says", async () => {
    const [acme, other] = await store.write("site", async (tx) => [
      (await insertCompany(tx, { code: "ACME", createdAt: 1 })).company.id,
      (await insertCompany(tx, { code: "OTHER", createdAt: 1 })).company.id,
    ]);
    const save = (whose: number | undefined, companyId = 0) =>
      store.write(whose ?? "site", (tx) =>
        savePartner(tx, { companyId, partner: { partnerCode: "C1" }, now: 1 }),
      );
    await expect(save(acme, other)).rejects.toThrow(/writes partners of another company than its own/);
    await save(acme, acme);
    await save(undefined, other);
    const removing = store.write(other ?? 0, (tx) => tx.deleteFrom("partners").execute());
    await expect(removing).rejects.toThrow(/of another company/);
    expect(await isPartner(store.read, acme ?? 0, "C1")).toBe(true);
  });

  it("is answered with its own error when it fails each time", async () => {
    const failing = store.write("site", async () => {
      throw new Error("refused");
    });
    await expect(failing).rejects.toThrow("refused");
  });
});

it("a unit of work that is not checked is run once", async () => {
  await open("0");
  let runs = 0;
  await store.write("site", async () => {
    runs += 1;
  });
  expect(runs).toBe(1);
});
