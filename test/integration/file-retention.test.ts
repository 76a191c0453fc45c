/** Files and receipts that are removed because of their age (specification/file-exchange.md#retention). */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ledgerOfEachTest } from "../../src/inbound/testing/ledger-fixture.ts";
import { receiptNameOf } from "../../src/domain/files/stop-file-name.ts";
import { pruneFiles } from "../../src/inbound/pruning/prune-files.ts";
import { pruneReceipts } from "../../src/inbound/pruning/prune-receipts.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { FencedError } from "../../src/store/database/fence.ts";
import { firstMark, listAgingFiles } from "../../src/store/ledger/file-retention.ts";
import { findFile, requestRetry } from "../../src/store/ledger/files.ts";
import {
  start,
  fixture,
  seal,
  told,
  prune,
  wouldGo,
  placeOf,
  receiptOf,
  filed,
  isThere,
  receiptPath,
  verify,
  expectCorrect,
  a,
  b,
  c,
} from "../support/aging-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { dayMs } from "../../src/lib/durations.ts";

ledgerOfEachTest(fixture);

const rowsOf = () =>
  fixture.store.read
    .selectFrom("files")
    .select(["is_pruning", "pruned_days", "pruned_to"])
    .orderBy("id")
    .execute();

describe("files in archive/ and error/", () => {
  test("are removed when they are older than their age, and the ledger says so and stays right", async () => {
    const old = await filed(a);
    const refused = await filed(b, { state: "refused" });
    const young = await filed(c, { day: 2 });
    const pass = { retention: { archive: 30, error: 30 }, day: 30 };
    expect(await prune(pass)).toEqual({});
    expect(await prune({ ...pass, day: 30 + 1 / dayMs })).toEqual({
      ...{ archive: [1, a.length], error: [1, b.length] },
    });
    expect([old, refused, young].map(({ location }) => isThere(location))).toEqual([false, false, true]);
    expect(await findFile(fixture.store.read, old.id)).toMatchObject({
      ...{
        state: "applied",
        size: a.length,
        removedAt: start + 30 * dayMs + 1,
        prunedDays: 30,
        isPruning: 0,
      },
    });
    const report = await expectCorrect({ received: 3, applied: 2, refused: 1, pruned: 0 });
    expect(report).toMatchObject({ entries: 3, pruned: 2, bytes: c.length });
    // Folders of days that are empty go too; that of the young file stays.
    expect(readdirSync(join(fixture.stateDir, "companies/ACME/archive"))).toEqual(["2026-11-07"]);
    expect(readdirSync(join(fixture.stateDir, "companies/ACME/error"))).toEqual([]);
  });

  test("have the age of their company and kind, and stay for ever without one", async () => {
    const { location } = await filed(a);
    const refused = await filed(b, { state: "refused" });
    expect(await prune({ retention: {}, day: 10_000 })).toEqual({});
    expect(await prune({ retention: { archive: 1 }, company: { archive: "keep" }, day: 10_000 })).toEqual({});
    const own = { retention: { archive: 10_000, error: 10_000 }, company: { error: 5 }, day: 6 };
    expect(Object.keys(await prune(own))).toEqual(["error"]);
    expect([isThere(location), isThere(refused.location)]).toEqual([true, false]);
  });

  test("are told beforehand, with their bytes and times, and nothing changes by that", async () => {
    const { location } = await filed(a, { text: "12345" });
    await filed(b, { day: 3 });
    await filed(c, { day: 90 });
    const pass = { retention: { archive: 30, receipts: 30 }, day: 60 };
    const times = { oldestAt: start, newestAt: start + 3 * dayMs, company: "ACME" };
    const receipts = statSync(join(fixture.stateDir, receiptPath(a))).size;
    expect(await wouldGo(pass)).toEqual([
      { kind: "receipts", count: 2, bytes: 2 * receipts, ...times },
      { kind: "archive", count: 2, bytes: 5 + b.length, ...times },
    ]);
    expect(isThere(location)).toBe(true);
    expect(await prune(pass)).toEqual({ receipts: [2, 2 * receipts], archive: [2, 5 + b.length] });
    expect(await wouldGo(pass)).toEqual([]);
  });

  test("that wait, are to be tried again or are being filed away are never removed", async () => {
    await fixture.wait(a);
    const again = await filed(b, { state: "refused" });
    await fixture.store.write(fixture.companyId, (tx) => requestRetry(tx, { id: again.id, now: start }));
    const moving = await fixture.wait(c);
    const location = placeOf(c, "applied", 0);
    await fixture.decide(moving, {
      state: "applied",
      location,
      text: c,
      isFiled: false,
      putAt: [],
      decidedAt: start,
    });
    const ages = { archive: 1, error: 1, receipts: 1, ledger: 1 };
    expect(await prune({ retention: ages, day: 1_000 })).toEqual({});
    await expectCorrect({ received: 3, applied: 1, waiting: 2 });
  });

  test("that are not what was received are left as they are, and stay a discrepancy", async () => {
    const gone = await filed(a);
    const changed = await filed(b);
    rmSync(join(fixture.stateDir, gone.location));
    writeFileSync(join(fixture.stateDir, changed.location), "of somebody else");
    expect(await prune({ retention: { archive: 1 }, day: 30 })).toEqual({});
    expect(told.join()).toContain("they are left as they are");
    const { discrepancies } = await verify();
    expect(discrepancies.map(({ kind, fileId }) => [kind, fileId]).sort()).toEqual([
      ["changed", changed.id],
      ["missing", gone.id],
    ]);
  });

  test("that were pruned and lie there again are known to nobody", async () => {
    const { location } = await filed(a);
    await prune({ retention: { archive: 1 }, day: 30 });
    await fixture.put(location, a);
    expect((await verify()).discrepancies).toMatchObject([{ kind: "unaccounted", location }]);
  });

  test("cannot be tried again afterwards", async () => {
    const { id } = await filed(a, { state: "refused" });
    await prune({ retention: { error: 1 }, day: 30 });
    const retry = fixture.store.write(fixture.companyId, (tx) => requestRetry(tx, { id, now: start }));
    expect(await retry).toBe(false);
  });

  test("stay while a backup is made, and go in the next pass", async () => {
    for (let nbr = 0; nbr < 120; nbr += 1) await filed(`${nbr}_20261105_080000.xml`);
    let looks = 0;
    // The backup begins after the first step.
    const isHeldUp = () => {
      looks += 1;
      return looks > 1;
    };
    const pass = { retention: { archive: 1 }, day: 30 };
    expect((await prune({ ...pass, isHeldUp }))["archive"]?.[0]).toBe(50);
    expect((await prune({ ...pass, isHeldUp: () => true }))["archive"]).toBeUndefined();
    expect((await prune(pass))["archive"]?.[0]).toBe(70);
    await expectCorrect({ received: 120, applied: 120 });
  });

  test("are not lost sight of when a step was interrupted before the bytes were gone, or after", async () => {
    const still = await filed(a);
    const gone = await filed(b);
    const begun = { removed_at: start, pruned_days: 7, is_pruning: 1 };
    await fixture.store.write("site", (tx) => tx.updateTable("files").set(begun).execute());
    rmSync(join(fixture.stateDir, gone.location));
    // In between the ledger is right all the same.
    await expectCorrect({ received: 2, applied: 2 });
    // Whatever the age is today: a file that is still there is kept or goes by that.
    await prune({ retention: {}, day: 1 });
    expect(isThere(still.location)).toBe(true);
    expect(await rowsOf()).toEqual([
      { is_pruning: 0, pruned_days: null, pruned_to: null },
      { is_pruning: 0, pruned_days: 7, pruned_to: null },
    ]);
    expect(await prune({ retention: { archive: 30 }, day: 31 })).toEqual({ archive: [1, a.length] });
    await expectCorrect({ received: 2, applied: 2 });
  });

  test("stay once another node has their company, amid a step, and go there", async () => {
    const [first, second] = [await filed(a), await filed(b)];
    const pass = { retention: { archive: 1 }, day: 30 };
    await expect(prune({ ...pass, isOurs: () => isThere(first.location) })).rejects.toThrow(FencedError);
    expect(isThere(second.location)).toBe(true);
    expect(await prune(pass)).toEqual({ archive: [1, b.length] });
    await expectCorrect({ received: 2, applied: 2 });
  });

  test("are not moved once another node has their company", async () => {
    const [first, second] = [await filed(a), await filed(b)];
    const moveTo = temporaryFolder();
    const pass = { retention: { archive: 1, moveTo }, day: 30 };
    const moved = (location: string) => existsSync(join(moveTo, location.replace("companies/", "")));
    await expect(prune({ ...pass, isOurs: () => !moved(first.location) })).rejects.toThrow(FencedError);
    expect([first, second].map(({ location }) => [isThere(location), moved(location)])).toEqual([
      [true, true],
      [true, false],
    ]);
    expect((await prune(pass))["archive"]?.[0]).toBe(2);
    await expectCorrect({ received: 2, applied: 2 });
  });

  test("of the right length and with other bytes stay, and go when they are mended", async () => {
    const { location } = await filed(a);
    await filed(b, { day: 1 });
    await fixture.put(location, b);
    const pass = { retention: { archive: 1 }, day: 30 };
    expect(await prune(pass)).toEqual({ archive: [1, b.length] });
    expect(isThere(location)).toBe(true);
    expect(told.join()).toContain("they are left as they are");
    await fixture.put(location, a);
    expect(await prune(pass)).toEqual({ archive: [1, a.length] });
  });

  test("that are filed away late are not passed over", async () => {
    const late = await filed(a);
    await filed(b, { day: 1 });
    const setFiled = (is_filed: 0 | 1) =>
      fixture.store.write("site", (tx) =>
        tx.updateTable("files").set({ is_filed }).where("id", "=", late.id).execute(),
      );
    await setFiled(0);
    const pass = { retention: { archive: 1 }, day: 30 };
    expect(await prune(pass)).toEqual({ archive: [1, b.length] });
    await setFiled(1);
    expect(await prune(pass)).toEqual({ archive: [1, a.length] });
  });

  test("that were decided anew since they were listed stay, with their receipts", async () => {
    const { id, location } = await filed(a, { state: "refused" });
    const { companyId, store, locations } = fixture;
    const page = { companyId, before: start + dayMs, after: firstMark, limit: 10 };
    const files = await listAgingFiles(store.read, page);
    const decided = { decided_at: start + 1 };
    await store.write("site", (tx) => tx.updateTable("files").set(decided).where("id", "=", id).execute());
    const deps = {
      store,
      locations,
      ledgerNumbers: { seal },
      log: createLogger({ level: "silent" }),
      now: start,
    };
    const owner = { companyId, companyCode: "ACME", days: 1 };
    expect(await pruneFiles(deps, { ...owner, kind: "error" }, files)).toMatchObject({ count: 0 });
    expect(await pruneReceipts(deps, { ...owner, kind: "receipts" }, files)).toMatchObject({ count: 0 });
    expect([isThere(location), isThere(receiptPath(a))]).toEqual([true, true]);
    expect(readdirSync(join(fixture.stateDir, "companies/ACME/receipts"))).toEqual([receiptNameOf(a)]);
  });
});

describe("receipts", () => {
  test("in receipts/ have an age of their own; that of a later file of the name stays", async () => {
    await filed(a, { state: "refused" });
    const later = await filed(a, { day: 20, state: "refused", text: "corrected" });
    await filed(b);
    const pass = { retention: { receipts: 10 }, day: 15 };
    expect((await prune(pass))["receipts"]?.[0]).toBe(1);
    expect([isThere(receiptPath(a)), isThere(receiptPath(b))]).toEqual([true, false]);
    expect(readFileSync(join(fixture.stateDir, receiptPath(a)), "utf8")).toBe(receiptOf(later.id));
    expect((await prune({ ...pass, day: 31 }))["receipts"]?.[0]).toBe(1);
    expect(readdirSync(join(fixture.stateDir, "companies/ACME/receipts"))).toEqual([]);
    await expectCorrect({ received: 3 });
  });

  test("of which a step was interrupted are put back when they are another's, and removed when they are not", async () => {
    const own = await filed(a);
    await filed(b);
    const folder = join(fixture.stateDir, "companies/ACME/receipts");
    const aside = (id: number) => join(folder, `.${id}.pruned`);
    rmSync(join(folder, receiptNameOf(a)));
    writeFileSync(aside(own.id), "of a later file");
    expect((await prune({ retention: { receipts: 10 }, day: 15 }))["receipts"]?.[0]).toBe(1);
    expect(readdirSync(folder)).toEqual([receiptNameOf(a)]);
    expect(readFileSync(join(folder, receiptNameOf(a)), "utf8")).toBe("of a later file");
    const { id } = await filed(c);
    writeFileSync(aside(id), receiptOf(id));
    rmSync(join(folder, receiptNameOf(c)));
    expect((await prune({ retention: { receipts: 10 }, day: 15 }))["receipts"]?.[0]).toBe(1);
    expect(readdirSync(folder)).toEqual([receiptNameOf(a)]);
  });

  test("of early versions, which have no reference, go too", async () => {
    await filed(a, { state: "refused" });
    const early = "<StopResponse><Stats/></StopResponse>";
    await fixture.put(receiptPath(a), early);
    await fixture.put(`companies/ACME/error/2026-11-05/${receiptNameOf(a)}`, early);
    await prune({ retention: { receipts: 1, error: 1, archive: 1, ledger: 1 }, day: 15 });
    expect(isThere(receiptPath(a))).toBe(false);
    await expectCorrect({ received: 1, pruned: 1 });
  });

  test("beside a file that a user has removed go at the age of the file", async () => {
    const { id, location } = await filed(a, { state: "refused" });
    rmSync(join(fixture.stateDir, location));
    const removal = { removed_at: start, removed_by: "host1" };
    await fixture.store.write("site", (tx) =>
      tx.updateTable("files").set(removal).where("id", "=", id).execute(),
    );
    expect(await prune({ retention: { error: 1 }, day: 30 })).toEqual({});
    expect(readdirSync(join(fixture.stateDir, "companies/ACME/error"))).toEqual([]);
    expect(await verify()).toMatchObject({ removed: 1, pruned: 0, discrepancyCount: 0 });
  });
});

describe("with a folder to move to", () => {
  test("files and receipts lie there by company, kind, day and name", async () => {
    const moveTo = temporaryFolder();
    await filed(a);
    const refused = await filed(b, { state: "refused" });
    const retention = { archive: 1, error: 1, receipts: 1, moveTo };
    expect(Object.keys(await prune({ retention, day: 30 }))).toEqual(["receipts", "archive", "error"]);
    const below = (kind: string) => readdirSync(join(moveTo, "ACME", kind, "2026-11-05")).sort();
    expect(below("archive")).toEqual([a]);
    expect(below("error")).toEqual([receiptNameOf(b), b]);
    expect(below("receipts")).toEqual([receiptNameOf(a), receiptNameOf(b)]);
    expect(readFileSync(join(moveTo, "ACME/archive/2026-11-05", a), "utf8")).toBe(a);
    expect(await findFile(fixture.store.read, refused.id)).toMatchObject({
      prunedTo: join(moveTo, "ACME/error/2026-11-05", b),
    });
    await expectCorrect({ received: 2 });
  });

  test("nothing there is overwritten: a file whose name is taken has its reference in its name", async () => {
    const moveTo = temporaryFolder();
    const { id, location } = await filed(a);
    const taken = join(moveTo, "ACME/archive", basename(dirname(location)), a);
    mkdirSync(dirname(taken), { recursive: true });
    writeFileSync(taken, "of somebody else");
    await prune({ retention: { archive: 1, moveTo }, day: 30 });
    expect(readFileSync(taken, "utf8")).toBe("of somebody else");
    const { prunedTo = "" } = (await findFile(fixture.store.read, id)) ?? {};
    expect(basename(prunedTo ?? "")).toBe(`1_20261105_080000.${seal(id)}.xml`);
    expect(readFileSync(prunedTo ?? "", "utf8")).toBe(a);
  });

  test("everything stays when the folder is not there: perhaps its disk is not mounted", async () => {
    const { location } = await filed(a);
    const moveTo = join(temporaryFolder(), "missing");
    expect(await prune({ retention: { archive: 1, moveTo }, day: 30 })).toEqual({});
    expect([isThere(location), existsSync(moveTo)]).toEqual([true, false]);
    expect(told.join()).toContain("retention.moveTo is not there");
  });

  test("a file that cannot be moved is tried again in the next pass, and the others go on", async () => {
    const moveTo = temporaryFolder();
    const first = await filed(a);
    const second = await filed(b, { state: "refused" });
    // Where its folder would be there is a file.
    writeFileSync(join(moveTo, "ACME"), "x");
    const pass = { retention: { archive: 1, error: 1, moveTo }, day: 30 };
    expect(await prune(pass)).toEqual({});
    expect(told.join()).toContain("old files cannot be moved");
    await expectCorrect({ received: 2 });
    // Nothing says that they are pruned, and nothing was passed over.
    const filedAway = { is_pruning: 0, pruned_days: null, pruned_to: null };
    expect(await rowsOf()).toEqual([filedAway, filedAway]);
    const passed = fixture.store.read.selectFrom("retention_marks").where("kind", "!=", "pruned");
    expect(await passed.selectAll().execute()).toEqual([]);
    rmSync(join(moveTo, "ACME"));
    expect(Object.keys(await prune(pass))).toEqual(["archive", "error"]);
    expect([isThere(first.location), isThere(second.location)]).toEqual([false, false]);
  });

  test("a file whose move was interrupted is moved only when it lies there", async () => {
    const moveTo = temporaryFolder();
    const [moved, lost, later] = [await filed(a), await filed(b), await filed(c)];
    const folder = join(moveTo, "ACME/archive/2026-11-05");
    const away = join(temporaryFolder(), "not-mounted");
    const begin = (id: number, pruned_to: string) =>
      fixture.store.write("site", (tx) =>
        tx
          .updateTable("files")
          .set({ removed_at: start, pruned_days: 1, is_pruning: 1, pruned_to })
          .where("id", "=", id)
          .execute(),
      );
    await begin(moved.id, join(folder, a));
    await begin(lost.id, join(folder, b));
    await begin(later.id, join(away, "ACME/archive/2026-11-05", c));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, a), a);
    writeFileSync(join(folder, b), "of somebody else");
    for (const { location } of [moved, lost, later]) rmSync(join(fixture.stateDir, location));
    await prune({ retention: {}, day: 1 });
    expect(existsSync(away)).toBe(false);
    expect(await rowsOf()).toEqual([
      { is_pruning: 0, pruned_days: 1, pruned_to: join(folder, a) },
      { is_pruning: 0, pruned_days: null, pruned_to: null },
      { is_pruning: 1, pruned_days: 1, pruned_to: join(away, "ACME/archive/2026-11-05", c) },
    ]);
    expect((await verify()).discrepancies).toMatchObject([{ kind: "missing", fileId: lost.id }]);
  });
});
