import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary-folder.ts";
import { insertCompany } from "../../accounts/companies.ts";
import { openStore } from "../database.ts";
import { rememberInTransaction } from "./transaction-answers.ts";

async function opened() {
  const store = await openStore(temporaryFolder());
  onTestFinished(() => store.close());
  let asked = 0;
  const companies = rememberInTransaction(async (tx, _key) => {
    asked += 1;
    return (await tx.selectFrom("companies").select("id").execute()).length;
  });
  return { store, companies, asked: () => asked };
}

it("an answer is remembered within a transaction, and by its key", async () => {
  const { store, companies, asked } = await opened();
  const before = asked();
  await store.write("site", async (tx) => {
    expect([await companies.get(tx, 1), await companies.get(tx, 1), await companies.get(tx, 2)]).toEqual([
      0, 0, 0,
    ]);
  });
  // Units of tests are run twice.
  expect(asked() - before).toBe(4);
});

it("a unit that is undone leaves no answer to the units after it", async () => {
  const { store, companies } = await opened();
  const outcomes = await Promise.allSettled([
    store.write("site", async (tx) => {
      await insertCompany(tx, { code: "ACME", createdAt: 1 });
      expect(await companies.get(tx, 1)).toBe(1);
      throw new Error("refused");
    }),
    store.write("site", (tx) => companies.get(tx, 1)),
  ]);
  expect(outcomes).toMatchObject([
    { status: "rejected", reason: { message: "refused" } },
    { status: "fulfilled", value: 0 },
  ]);
});

it("whoever writes what the answer says has it asked anew", async () => {
  const { store, companies } = await opened();
  await store.write("site", async (tx) => {
    expect(await companies.get(tx, 1)).toBe(0);
    companies.forget(tx);
    await insertCompany(tx, { code: "ACME", createdAt: 1 });
    expect(await companies.get(tx, 1)).toBe(1);
  });
});
