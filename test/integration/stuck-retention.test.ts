/** What cannot be removed keeps nothing that comes after it (docs/retention.md#what-stays-of-a-file). */
import { mkdirSync, renameSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ledgerOfEachTest } from "../../src/inbound/testing/ledger-fixture.ts";
import { receiptsPruner } from "../../src/app/retention/file-pruners.ts";
import { ledgerPruner } from "../../src/app/retention/ledger-pruner.ts";
import { type PruneDeps, type Pruner, Tally } from "../../src/app/retention/pruner.ts";
import { createRetention } from "../../src/app/retention/retention.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { readFilePage } from "../../src/store/ledger/file-pages.ts";
import { forgetMarks, noteMark } from "../../src/store/ledger/file-retention.ts";
import {
  a,
  b,
  c,
  configOf,
  filed,
  fixture,
  isThere,
  prune,
  receiptPath,
  seal,
  start,
  told,
} from "../support/aging-files.ts";
import { dayMs } from "../../src/lib/durations.ts";
import { cutOffAfter } from "../support/run-pruner.ts";

ledgerOfEachTest(fixture);

const asideOf = (id: number) => join(fixture.stateDir, "companies/ACME/receipts", `.${id}.pruned`);
/** No file is renamed onto a folder: the receipt of the entry cannot be removed. */
const stick = (id: number) => mkdirSync(asideOf(id));
const going = new AbortController().signal;
const nameOf = (number: number) => `${number}_20261105_080000.xml`;

async function filedMany(count: number): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let number = 0; number < count; number += 1) ids.push((await filed(nameOf(number))).id);
  return ids;
}

async function idsLeft(): Promise<readonly number[]> {
  const rows = await fixture.store.read.selectFrom("files").select("id").orderBy("id").execute();
  return rows.map(({ id }) => id);
}

describe("a receipt that cannot be removed", () => {
  const pass = { retention: { archive: 10, error: 10, receipts: 10, ledger: 20 }, day: 40 };
  const warnings = () =>
    told.filter((line) => line.includes("because their receipts are still in receipts/"));

  test("keeps its own entry of the ledger, of which the pass says how many there are, and none behind it", async () => {
    const [first, second] = [await filed(a), await filed(b, { day: 1 })];
    await filed(c, { day: 2 });
    stick(first.id);
    stick(second.id);
    expect((await prune(pass))["ledger"]).toEqual([1, 0]);
    expect(await idsLeft()).toEqual([first.id, second.id]);
    expect(warnings().map((line) => JSON.parse(line) as object)).toMatchObject([
      { company: "ACME", entries: 2, first: a },
    ]);
    rmdirSync(asideOf(first.id));
    rmdirSync(asideOf(second.id));
    expect((await prune(pass))["ledger"]).toEqual([2, 0]);
    expect(warnings()).toEqual([]);
  });

  test("keeps its entry too under the name of a removal under way, or when nobody can tell", async () => {
    const [first, second] = [await filed(a), await filed(b)];
    await prune({ ...pass, retention: { ...pass.retention, ledger: "keep" } });
    const answer = `<StopResponse><File Ledger="${seal(first.id)}"/></StopResponse>`;
    await fixture.put(`companies/ACME/receipts/.${first.id}.pruned`, answer);
    const deps = await depsOf({ isHeldUp: () => false });
    // The folder leads to itself: what lies in it cannot be looked at.
    const folder = join(fixture.stateDir, "companies/ACME/receipts");
    renameSync(folder, `${folder}-away`);
    symlinkSync(folder, folder);
    expect(await run(ledgerPruner, deps, going)).toBeUndefined();
    expect(await idsLeft()).toEqual([first.id, second.id]);
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
    expect(await run(ledgerPruner, deps, going)).toBeUndefined();
    expect(await idsLeft()).toEqual([first.id]);
    const [unknown, there] = warnings().map((line) => JSON.parse(line) as object);
    expect(unknown).toMatchObject({ entries: 2, reason: expect.stringContaining("ELOOP") });
    expect(there).toMatchObject({ entries: 1, first: a });
    expect(there).not.toHaveProperty("reason");
  });
});

describe("a file that cannot be removed", () => {
  const pass = { retention: { archive: 10 }, day: 40 };

  /** Names of the files whose bytes are gone, as the console lists them. */
  async function listedAsPruned(): Promise<readonly string[]> {
    const selection = { companyIds: [fixture.companyId], isPruned: true } as const;
    const asked = { direction: "newer", limit: 10, hasTime: () => true } as const;
    const { entries } = await readFilePage(fixture.store.read, selection, asked);
    return entries.map(({ name }) => name);
  }

  test("hides none of those behind it from the list of what was pruned", async () => {
    const [stuck] = [await filed(a), await filed(b, { day: 1 }), await filed(c, { day: 2 })];
    await filed(nameOf(4), { day: 35 });
    await fixture.put(stuck.location, "changed by hand");
    expect(await listedAsPruned()).toEqual([]);
    expect((await prune(pass))["archive"]?.[0]).toBe(2);
    expect(await listedAsPruned()).toEqual([b, c]);
    // Marks are forgotten when the clock was behind.
    await fixture.store.write("site", forgetMarks);
    expect(await listedAsPruned()).toEqual([b, c]);
  });

  test("hides none of those that an earlier version has pruned, and noted by the mark of the kind alone", async () => {
    const [stuck] = [await filed(a), await filed(b, { day: 1 })];
    await fixture.put(stuck.location, "changed by hand");
    await prune(pass);
    const { companyId } = fixture;
    await fixture.store.write("site", async (tx) => {
      await tx.deleteFrom("retention_marks").execute();
      await noteMark(tx, { companyId, kind: "archive" }, { decidedAt: start - dayMs, fileId: 0 });
    });
    expect(await listedAsPruned()).toEqual([b]);
  });
});

async function depsOf(kept: Pick<PruneDeps, "places" | "isHeldUp">): Promise<PruneDeps> {
  const now = start + 100 * dayMs;
  told.length = 0;
  const log = createLogger({ level: "info", destination: { write: (line) => void told.push(line) } });
  const { store, locations } = fixture;
  return { store, locations, log, now, clock: { now: () => now }, ledgerNumbers: { seal }, ...kept };
}

/** The error with which the pass ended; undefined when it came to the end. */
async function run(pruner: Pruner, deps: PruneDeps, signal: AbortSignal): Promise<unknown> {
  const due = [{ id: fixture.companyId, code: "ACME", before: start + 90 * dayMs, days: 10 }];
  return await pruner.prune(deps, due, { tally: new Tally(), signal }).then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("a daemon comes further in each pass, however many files cannot be removed", async () => {
  const ids = await filedMany(121);
  for (const id of ids.slice(0, 120)) stick(id);
  const config = await configOf({ receipts: 10 });
  const now = start + 100 * dayMs;
  const { store, locations } = fixture;
  const retention = createRetention({
    ...{ store, locations, ledgerNumbers: { seal }, clock: { now: () => now }, config: () => config },
    log: createLogger({ level: "silent" }),
  });
  const isLastThere: boolean[] = [];
  for (let pass = 0; pass < 3; pass += 1) {
    await retention.prune(now, new AbortController().signal);
    isLastThere.push(isThere(receiptPath(nameOf(120))));
  }
  // Of a step of 50 none goes: the first two passes leave the rest.
  expect(isLastThere).toEqual([true, true, false]);
  rmdirSync(asideOf(ids[0] ?? 0));
  await retention.prune(now, new AbortController().signal);
  expect([isThere(receiptPath(nameOf(0))), isThere(receiptPath(nameOf(1)))]).toEqual([false, true]);
});

describe("a pass that is cut off behind what stays", () => {
  test("goes on in the next, and the one after that begins with the oldest again", async () => {
    const ids = await filedMany(160);
    stick(ids[0] ?? 0);
    const places: PruneDeps["places"] = new Map();
    const cutOffAfterSteps = async (steps: number) => {
      const cutOff = new AbortController();
      let begun = 0;
      const isHeldUp = () => {
        begun += 1;
        if (begun === steps) cutOff.abort();
        return false;
      };
      return await run(receiptsPruner, await depsOf({ places, isHeldUp }), cutOff.signal);
    };
    expect(await cutOffAfterSteps(2)).toHaveProperty("name", "AbortError");
    expect(isThere(receiptPath(nameOf(159)))).toBe(true);
    rmdirSync(asideOf(ids[0] ?? 0));
    // Two more steps lead to the end, and not to what is mended meanwhile.
    expect(await cutOffAfterSteps(3)).toBeUndefined();
    expect([isThere(receiptPath(nameOf(0))), isThere(receiptPath(nameOf(159)))]).toEqual([true, false]);
    expect(await cutOffAfterSteps(1)).toHaveProperty("name", "AbortError");
    expect(isThere(receiptPath(nameOf(0)))).toBe(false);
  });

  test("comes to the entries of the ledger behind those that stay", async () => {
    const ids = await filedMany(160);
    const { id: last } = await filed("last_20261105_080000.xml", { day: 1 });
    await fixture.store.write("site", (tx) =>
      tx.updateTable("files").set({ removed_at: start, pruned_days: 1 }).where("id", "=", last).execute(),
    );
    const places: PruneDeps["places"] = new Map();
    const deps = await depsOf({ places, isHeldUp: () => false });
    await run(receiptsPruner, deps, going);
    let passes = 0;
    for (; (await idsLeft()).includes(last); passes += 1) {
      expect(passes).toBeLessThan(10);
      await run(ledgerPruner, deps, cutOffAfter(2));
    }
    expect(passes).toBeGreaterThan(1);
    expect(await idsLeft()).toEqual(ids);
  });
});
