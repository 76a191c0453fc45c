import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { createLimitedLog } from "../../lib/logs/limited-log.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import { openStore } from "../../store/database/database.ts";
import { enterFile, findFile } from "../../store/ledger/files.ts";
import { createFilingQueue } from "./filing-queue.ts";

const log = createLogger({ level: "silent" });

async function ground(lostAfterMs: number) {
  const folder = temporaryFolder();
  for (const name of ["inbound", "elsewhere", "archive", "receipts"]) mkdirSync(join(folder, name));
  const store = await openStore(folder);
  const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
  const from = join(folder, "inbound", "a.xml");
  const row = { companyId: company.id, name: "a.xml", nameTime: null, size: 1, receivedAt: 1 };
  const id = await store.write("site", (tx) =>
    enterFile(tx, { ...row, channel: "sftp", userName: null, location: "inbound/a.xml" }),
  );
  const filing = createFilingQueue({
    ...{ store, log, failing: createLimitedLog(log), lostAfterMs, pauseMs: 5 },
    toLedger: (path) => path,
    isAwaited: () => false,
  });
  onTestFinished(async () => {
    await filing.close();
    await store.close();
  });
  const receiptPath = join(folder, "receipts", "a.receipt.xml");
  const task = {
    ...{ id, companyId: company.id },
    reference: "sealed",
    from,
    to: join(folder, "archive", "a.xml"),
    sha256: "0",
    receipt: "<r/>",
  };
  const isFiled = async () => (await findFile(store.read, id))?.isFiled;
  return { folder, filing, isFiled, receiptPath, task: { ...task, receiptPaths: [receiptPath] } };
}

test("bytes that are not there for a while are filed away when they are back; the receipt does not wait", async () => {
  const { folder, filing, task, isFiled, receiptPath } = await ground(3_600_000);
  writeFileSync(task.from, "x");
  // The folder is another one for a moment, as a share that blinks.
  const inbound = join(folder, "inbound");
  renameSync(inbound, join(folder, "away"));
  symlinkSync(join(folder, "elsewhere"), inbound);
  const done = vi.fn();
  filing.add(task, "1/a.receipt.xml", done);
  await vi.waitFor(() => expect(existsSync(receiptPath)).toBe(true), { timeout: 20_000 });
  await filing.drain();
  expect([done.mock.calls.length, await isFiled()]).toEqual([0, false]);
  unlinkSync(inbound);
  renameSync(join(folder, "away"), inbound);
  await vi.waitFor(() => expect(done).toHaveBeenCalled(), { timeout: 20_000 });
  expect([existsSync(task.to), await isFiled()]).toEqual([true, true]);
});

test("bytes that stay away are given up in the end", async () => {
  const { filing, task, isFiled } = await ground(1);
  const done = vi.fn();
  filing.add(task, "1/a.receipt.xml", done);
  await vi.waitFor(() => expect(done).toHaveBeenCalled(), { timeout: 20_000 });
  expect([existsSync(task.to), await isFiled()]).toEqual([false, true]);
});
