/** Passes of retention in a daemon, which has other work to do (docs/retention.md#see-what-would-go). */
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { withPruneLock } from "../../src/app/retention/prune-lock.ts";
import { createRetention } from "../../src/app/retention/retention.ts";
import { lockBackups } from "../../src/backup/take-backup.ts";
import { ledgerOfEachTest, sha256Of } from "../../src/inbound/testing/ledger-fixture.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import type { Store } from "../../src/store/database/database.ts";
import { dayMs } from "../../src/lib/durations.ts";
import { noteLastBackup } from "../../src/store/database/last-backup.ts";
import { a, b, configOf, filed, fixture, isThere, seal, start } from "../support/aging-files.ts";
import { endFailing, failStatements } from "../support/failing-statements.ts";
import { isOnPostgres } from "../support/store-dialect.ts";

ledgerOfEachTest(fixture);

const late = start + 100 * dayMs;

interface Running {
  readonly timeUp?: () => AbortSignal;
  /** Hears of each unit of work when it is done. */
  readonly written?: () => void;
}

async function running({ timeUp, written }: Running = {}) {
  const config = await configOf({ archive: 30, error: 30 });
  const told: string[] = [];
  const { locations } = fixture;
  const store: Pick<Store, "read" | "write"> = {
    read: fixture.store.read,
    write: async (owner, work) => {
      const done = await fixture.store.write(owner, work);
      written?.();
      return done;
    },
  };
  const retention = createRetention({
    ...{ store, locations, ledgerNumbers: { seal }, clock: { now: () => late }, config: () => config },
    ...(timeUp === undefined ? {} : { timeUp }),
    log: createLogger({ level: "info", destination: { write: (line) => void told.push(line) } }),
  });
  const prune = (signal = new AbortController().signal) => retention.prune(late, signal);
  return { told, prune, pruned: retention.figures.pruned, outcome: retention.figures.outcome };
}

test("a kind whose time is up goes on in the next round, and so do the kinds after it", async () => {
  const { location } = await filed(a);
  const hurried = await running({ timeUp: () => AbortSignal.abort() });
  expect(await hurried.prune()).toBe(false);
  expect(isThere(location)).toBe(true);
  const told = hurried.told.join("\n");
  for (const kind of ["archive", "error"]) expect(told).toContain(`"kind":"${kind}"`);
  const { prune } = await running();
  expect(await prune()).toBe(true);
  expect(isThere(location)).toBe(false);
});

describe("what a kind has removed by the time that", () => {
  /** Aborts when the first step of 50 files is begun, ended and marked. */
  async function cutOffInFiles() {
    for (let number = 0; number < 120; number += 1) await filed(`${number}_20261105_080000.xml`);
    const cutOff = new AbortController();
    let units = 0;
    const written = () => {
      units += 1;
      if (units === 3) cutOff.abort();
    };
    return { signal: cutOff.signal, written };
  }

  test("it is cut off is counted and told, and the rest goes in the next round", async () => {
    const { signal, written } = await cutOffInFiles();
    const { prune, pruned, told } = await running({ written, timeUp: () => signal });
    expect(await prune()).toBe(false);
    expect(pruned.get("archive")).toBe(50);
    expect(told.join("\n")).toContain('"pruned":{"archive":50}');
    const next = await running();
    expect(await next.prune()).toBe(true);
    expect(next.pruned.get("archive")).toBe(70);
  });

  test("the daemon stops is counted and told", async () => {
    const { signal, written } = await cutOffInFiles();
    const { prune, pruned, told } = await running({ written });
    await expect(prune(signal)).rejects.toHaveProperty("name", "AbortError");
    expect(pruned.get("archive")).toBe(50);
    expect(told.join("\n")).toContain('"pruned":{"archive":50}');
  });
});

describe("a company", () => {
  /** An old file of the company, whose place its folder says. */
  async function oldOf(companyId: number, folder: string, columns: object = {}): Promise<string> {
    const location = `companies/${folder}/archive/2026-11-05/${a}`;
    await fixture.put(location, "x");
    await fixture.store.write("site", (tx) =>
      tx
        .insertInto("files")
        .values({
          ...{
            company_id: companyId,
            name: a,
            size: 1,
            channel: "sftp",
            received_at: start,
            state: "applied",
          },
          ...{ reasons: "[]", records_created: 0, records_updated: 0, records_deleted: 0, source: location },
          ...{ location, is_filed: 1, decided_at: start, sha256: sha256Of("x"), ...columns },
        })
        .execute(),
    );
    return location;
  }

  test("whose part of a kind fails does not keep the files of others", async () => {
    const event = "update of is_pruning on files";
    const when = `new.company_id = ${fixture.companyId}`;
    await fixture.store.write("site", (tx) =>
      failStatements(tx, { event, when, message: "this row cannot be written" }),
    );
    const own = await oldOf(fixture.companyId, "ACME");
    const other = await oldOf(await fixture.company("BETA"), "BETA");
    const { prune, told } = await running();
    expect(await prune()).toBe(false);
    expect([isThere(own), isThere(other)]).toEqual([true, false]);
    expect(told.filter((line) => line.includes('"company":"ACME"'))).toHaveLength(1);
    await fixture.store.write("site", (tx) => endFailing(tx));
    expect([await prune(), isThere(own)]).toEqual([true, false]);
  });

  test("keeps a file that an entry of another company claims too", async () => {
    const shared = await oldOf(fixture.companyId, "ACME");
    await oldOf(await fixture.company("BETA"), "ACME", { decided_at: late });
    const { prune, told } = await running();
    expect([await prune(), isThere(shared)]).toEqual([true, true]);
    expect(told.join("\n")).toContain("or claimed by two entries");
    await fixture.store.write("site", (tx) =>
      tx.deleteFrom("files").where("decided_at", "=", late).execute(),
    );
    expect([await prune(), isThere(shared)]).toEqual([true, false]);
  });

  test("of which an interrupted removal cannot be settled is told, and the pass goes on", async () => {
    const unsettled = `/${"x".repeat(300)}/ACME/archive/2026-11-05/${a}`;
    const interrupted = {
      removed_at: start,
      pruned_days: 30,
      pruned_to: unsettled,
      is_pruning: 1,
      sha256: null,
    };
    await unlink(join(fixture.stateDir, await oldOf(fixture.companyId, "ACME", interrupted)));
    const other = await oldOf(await fixture.company("BETA"), "BETA");
    const { prune, told } = await running();
    expect(await prune()).toBe(false);
    expect(isThere(other)).toBe(false);
    expect(told.filter((line) => /"company":"ACME".*ENAMETOOLONG/.test(line))).toHaveLength(1);
  });

  test("at which the time was up comes after the others in the next round", async () => {
    for (let number = 0; number < 120; number += 1) await filed(`${number}_20261105_080000.xml`);
    const other = await oldOf(await fixture.company("BETA"), "BETA");
    let timeUp = new AbortController();
    const { prune, pruned } = await running({ timeUp: () => timeUp.signal, written: () => timeUp.abort() });
    await prune();
    expect([pruned.get("archive"), isThere(other)]).toEqual([50, true]);
    timeUp = new AbortController();
    await prune();
    expect([pruned.get("archive"), isThere(other)]).toEqual([51, false]);
  });
});

const noImports = isOnPostgres ? 'PostgreSQL: relation "imports" does not exist' : "no such table: imports";

test("a kind that fails is told, does not stop the kinds after it, and is tried again", async () => {
  const applied = await filed(a);
  const refused = await filed(b, { state: "refused" });
  const { store } = fixture;
  await store.write("site", (tx) => tx.schema.alterTable("imports").renameTo("imports_away").execute());
  const { told, prune, outcome } = await running();
  expect(outcome.hasPassed).toBe(false);
  expect(await prune()).toBe(false);
  expect(outcome).toMatchObject({
    ...{ hasPassed: true },
    failure: {
      at: late,
      faults: ["imports", "appointments"].map((kind) => `${kind}: ${noImports}`),
    },
  });
  expect(told.join("\n")).toContain("what is too old cannot be removed; trying again later");
  expect([isThere(applied.location), isThere(refused.location)]).toEqual([false, false]);
  await store.write("site", (tx) => tx.schema.alterTable("imports_away").renameTo("imports").execute());
  expect(await prune()).toBe(true);
  expect(outcome.failure).toBeUndefined();
});

test("while another process removes what is too old, a pass says that it comes later", async () => {
  const { location } = await filed(a);
  const { told, prune } = await running();
  const isDone = await withPruneLock({ stateDir: fixture.stateDir }, prune);
  expect([isDone, isThere(location)]).toEqual([false, true]);
  expect(told.map((line) => (JSON.parse(line) as { level: unknown }).level)).toHaveLength(1);
  expect(told.join()).toContain("what is too old is removed in the next round");
  expect([await prune(), isThere(location)]).toEqual([true, false]);
});

test("while a backup is made files stay until the round after it, which says why and how long the last one took", async () => {
  const { location } = await filed(a);
  const { store, stateDir } = fixture;
  const last = {
    folder: "/backups/1",
    begunAt: start,
    endedAt: start + 240_000,
    files: 3,
    bytes: 4,
    discrepancies: 0,
  };
  const backup = lockBackups(stateDir);
  const { told, prune } = await running();
  expect([await prune(), isThere(location)]).toEqual([false, true]);
  await store.write("site", (tx) => noteLastBackup(tx, last));
  await prune();
  const text = "a backup is being made: old files of archive stay until it is done";
  expect(told.map((line) => (JSON.parse(line) as { msg: unknown }).msg)).toEqual([
    `${text}; they go in a round after that`,
    `${text} (the last one took 4 min); they go in a round after that`,
  ]);
  backup.release();
  expect([await prune(), isThere(location)]).toEqual([true, false]);
});

test("a backup holds up nobody who has no old files", async () => {
  await filed(a, { day: 99 });
  const backup = lockBackups(fixture.stateDir);
  const { told, prune } = await running();
  expect([await prune(), told]).toEqual([true, []]);
  backup.release();
});
