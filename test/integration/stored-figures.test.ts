/** What the metrics read from the database. */
import { expect, onTestFinished, test } from "vitest";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { findLastVerification, noteLastVerification } from "../../src/store/database/last-verification.ts";
import { listExportTimes, planExport } from "../../src/store/outbound/export-schedules.ts";
import { insertExport } from "../../src/store/outbound/exports.ts";
import {
  countWaitingImports,
  decideImportItem,
  insertImport,
  insertImportItem,
} from "../../src/store/stops/imports.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function ground() {
  const store = await openFreshStore(temporaryFolder());
  onTestFinished(() => store.close());
  const ids: number[] = [];
  for (const code of ["ACME", "OTHER"]) {
    const made = await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
    ids.push(made.company.id);
  }
  const [acme = 0, other = 0] = ids;
  return { store, acme, other };
}

test("an import waits until the last of its loads is decided, and counts once, with the time of the oldest", async () => {
  const { store, acme, other } = await ground();
  const add = (
    companyId: number,
    guid: string,
    { loads, receivedAt }: { loads: number; receivedAt: number },
  ) =>
    store.write(companyId, async (tx) => {
      const entry = { guid, companyId, serviceName: "default", userName: "host", receivedAt };
      const importId = await insertImport(tx, entry);
      for (let position = 0; position < loads; position += 1)
        await insertImportItem(tx, { importId, position, loadNbr: `L${position}`, body: "{}" });
      return importId;
    });
  const importId = await add(acme, "a", { loads: 3, receivedAt: 1 });
  await add(acme, "b", { loads: 1, receivedAt: 2 });
  await add(other, "c", { loads: 2, receivedAt: 3 });
  const counts = async () =>
    [...(await countWaitingImports(store.read))].sort((a, b) => a.companyId - b.companyId);
  const ofOther = { companyId: other, imports: 1, oldestAt: 3 };
  expect(await counts()).toEqual([{ companyId: acme, imports: 2, oldestAt: 1 }, ofOther]);
  const decide = (position: number) =>
    store.write(acme, (tx) =>
      decideImportItem(tx, { importId, position, state: "applied", faults: [], now: 2 }),
    );
  for (const position of [0, 1]) await decide(position);
  expect(await counts()).toEqual([{ companyId: acme, imports: 2, oldestAt: 1 }, ofOther]);
  await decide(2);
  expect(await counts()).toEqual([{ companyId: acme, imports: 1, oldestAt: 2 }, ofOther]);
});

test("an export has the time of the newest of its name, and when it is due next", async () => {
  const { store, acme } = await ground();
  const plan = { companyId: acme, name: "nightly", schedule: "{}", nextDueAt: 900 };
  await store.write(acme, (tx) => planExport(tx, plan));
  const times = () => listExportTimes(store.read);
  expect(await times()).toEqual([{ companyId: acme, name: "nightly", lastAt: null, nextAt: 900 }]);
  for (const createdAt of [100, 200]) {
    const made = { companyId: acme, name: "nightly", afterCompletionId: 0, lastCompletionId: 0 };
    await store.write(acme, (tx) => insertExport(tx, { ...made, form: "files", dueAt: null, createdAt }));
  }
  expect(await times()).toEqual([{ companyId: acme, name: "nightly", lastAt: 200, nextAt: 900 }]);
});

test("the last verification is the one that was noted last", async () => {
  const { store } = await ground();
  expect(await findLastVerification(store.read)).toBeUndefined();
  for (const at of [1, 2]) await noteLastVerification(store, { at, discrepancies: at * 3 });
  expect(await findLastVerification(store.read)).toEqual({ at: 2, discrepancies: 6 });
});
