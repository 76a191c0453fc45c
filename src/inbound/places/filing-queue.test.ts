import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { systemClock } from "../../lib/clock.ts";
import { createLimitedLog } from "../../lib/logs/limited-log.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import { openStore, type Store } from "../../store/database/database.ts";
import { StoreError } from "../../lib/store-error.ts";
import type { Ownership } from "../../store/cluster/ownership.ts";
import { enterFile, findFile } from "../../store/ledger/files.ts";
import { FilingQueue } from "./filing-queue.ts";
import { waitToPass } from "../../../test/support/wait-to-pass.ts";

const log = createLogger({ level: "silent" });

async function ground(
  lostAfterMs: number,
  wrap: (store: Store) => Pick<Store, "write" | "writeSoon"> = (store) => store,
  ownership?: Ownership,
) {
  const folder = temporaryFolder();
  for (const name of ["inbound", "elsewhere", "archive", "receipts"]) mkdirSync(join(folder, name));
  const store = await openStore(folder);
  const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
  const from = join(folder, "inbound", "a.xml");
  const row = { companyId: company.id, name: "a.xml", nameTime: null, size: 1, receivedAt: 1 };
  const id = await store.write("site", (tx) =>
    enterFile(tx, { ...row, channel: "sftp", userName: null, location: "inbound/a.xml" }),
  );
  const filing = new FilingQueue({
    ...{ ownership, store: wrap(store), log, failing: createLimitedLog(log), lostAfterMs, pauseMs: 5 },
    toLedger: (path) => path,
    clock: systemClock,
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
  return { folder, store, filing, isFiled, receiptPath, task: { ...task, receiptPaths: [receiptPath] } };
}

test("bytes that are not there for a while are filed away when they are back; the receipt does not wait", async () => {
  const { folder, filing, task, isFiled, receiptPath } = await ground(3_600_000);
  writeFileSync(task.from, "x");
  // The folder is another one for a moment, as a share that blinks.
  const inbound = join(folder, "inbound");
  renameSync(inbound, join(folder, "away"));
  symlinkSync(join(folder, "elsewhere"), inbound);
  const [done, receiptWritten] = [vi.fn(), vi.fn()];
  filing.add(task, "1/a.receipt.xml", { done, receiptWritten });
  await waitToPass(() => expect(existsSync(receiptPath)).toBe(true));
  await filing.drain();
  expect([done.mock.calls.length, await isFiled()]).toEqual([0, false]);
  unlinkSync(inbound);
  renameSync(join(folder, "away"), inbound);
  await waitToPass(() => expect(done).toHaveBeenCalled());
  expect([existsSync(task.to), await isFiled()]).toEqual([true, true]);
  // With the first attempt, and not again with those that found the bytes.
  expect(receiptWritten).toHaveBeenCalledTimes(1);
});

test("files of a company that is another node's are left alone, and forgotten; one that is taken again is filed", async () => {
  let goodForMs: number | undefined;
  const ownership: Ownership = {
    isSole: false,
    fenceOf: (companyId) =>
      goodForMs === undefined ? undefined : { companyId, epoch: 1, goodForMs: () => goodForMs ?? 0 },
  };
  const { filing, task, isFiled, receiptPath } = await ground(3_600_000, undefined, ownership);
  writeFileSync(task.from, "x");
  const done = vi.fn();
  filing.add(task, "1/a.receipt.xml", { done });
  await filing.drain();
  expect([filing.length, existsSync(task.from), existsSync(receiptPath), await isFiled()]).toEqual([
    ...[0, true, false, false],
  ]);
  // The lease is over, and renewed before the next attempt.
  goodForMs = 0;
  filing.add(task, "1/a.receipt.xml", { done });
  await filing.drain();
  goodForMs = 60_000;
  await waitToPass(() => expect(done).toHaveBeenCalledTimes(1));
  expect([existsSync(task.to), existsSync(receiptPath), await isFiled()]).toEqual([true, true, true]);
});

test("a file that cannot be filed away is not marked as filed, and filed away when it can be", async () => {
  const { folder, filing, task, isFiled } = await ground(3_600_000);
  writeFileSync(task.from, "x");
  const archive = join(folder, "archive");
  renameSync(archive, join(folder, "kept"));
  writeFileSync(archive, "in its place");
  const done = vi.fn();
  filing.add(task, "1/a.receipt.xml", { done });
  await filing.drain();
  expect([done.mock.calls.length, await isFiled(), existsSync(task.from)]).toEqual([0, false, true]);
  unlinkSync(archive);
  renameSync(join(folder, "kept"), archive);
  await waitToPass(() => expect(done).toHaveBeenCalled());
  expect([existsSync(task.to), await isFiled()]).toEqual([true, true]);
});

test("bytes that stay away are given up in the end", async () => {
  const { filing, task, isFiled } = await ground(1);
  const done = vi.fn();
  filing.add(task, "1/a.receipt.xml", { done });
  await waitToPass(() => expect(done).toHaveBeenCalled());
  expect([existsSync(task.to), await isFiled()]).toEqual([false, true]);
});

test.each([null, ""])(
  "a file of which nothing was read (%o) is not waited for when it is not there",
  async (sha256) => {
    const { filing, task, isFiled } = await ground(3_600_000);
    const done = vi.fn();
    filing.add({ ...task, sha256 }, "1/a.receipt.xml", { done });
    await filing.drain();
    expect([done.mock.calls.length, await isFiled()]).toEqual([1, true]);
  },
);

test("the marks of a company are final although those of another in its group fail", async () => {
  const marks: number[] = [];
  let failures = 0;
  const noting =
    (write: Store["write"]): Store["write"] =>
    async (whose, work) => {
      if (typeof whose === "number") marks.push(whose);
      if (whose === 2 && failures-- > 0)
        throw new StoreError("unavailable", "the page cannot be read", undefined);
      return await write(whose, work);
    };
  const { folder, store, filing, task } = await ground(3_600_000, (real) => ({
    write: noting(real.write),
    writeSoon: noting(real.writeSoon),
  }));
  const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "OTHER", createdAt: 1 }));
  expect([task.companyId, company.id]).toEqual([1, 2]);
  const [ends, receipts]: [string[], string[]] = [[], []];
  const add = async (companyId: number, name: string) => {
    const row = { companyId, name, nameTime: null, size: 1, receivedAt: 1 };
    const id = await store.write("site", (tx) =>
      enterFile(tx, { ...row, channel: "sftp", userName: null, location: `inbound/${name}` }),
    );
    const [from, to] = [join(folder, "inbound", name), join(folder, "archive", name)];
    writeFileSync(from, "x");
    const receiptPaths = [join(folder, "receipts", name)];
    return () =>
      filing.add({ ...task, id, companyId, from, to, receiptPaths }, name, {
        done: () => void ends.push(name),
        receiptWritten: () => void receipts.push(name),
      });
  };
  failures = 1;
  // The first is a group of its own; what comes while it is filed is the next one.
  for (const begin of [await add(1, "a"), await add(1, "b"), await add(2, "c")]) begin();
  await waitToPass(() => expect(ends).toHaveLength(3));
  expect(ends).toEqual(["a", "b", "c"]);
  expect(marks).toEqual([1, 1, 2, 2]);
  // Its receipt was there before its mark failed.
  expect(receipts).toEqual(["a", "b", "c"]);
});
