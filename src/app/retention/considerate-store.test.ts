import { expect, test } from "vitest";
import { ledgerOfEachTest } from "../../inbound/testing/ledger-fixture.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import { considerateStore } from "./considerate-store.ts";

const fixture = ledgerOfEachTest();

test("after each write it rests for as long as that took, and gives what was written", async () => {
  const pauses: number[] = [];
  const times = [0, 40, 100, 101];
  const store = considerateStore(fixture.store, {
    now: () => times.shift() ?? 0,
    pause: async (ms) => pauses.push(ms),
  });
  const insert = (code: string) =>
    store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1_700_000_000_000 }));
  expect((await insert("SLOW")).company.code).toBe("SLOW");
  await insert("QUICK");
  expect(pauses).toEqual([40, 5]);
});
