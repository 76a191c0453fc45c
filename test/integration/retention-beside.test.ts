/** Passes of retention in a daemon, which has other work to do (docs/retention.md#see-what-would-go). */
import { expect, test } from "vitest";
import { withPruneLock } from "../../src/app/retention/prune-lock.ts";
import { createRetention } from "../../src/app/retention/retention.ts";
import { lockBackups } from "../../src/backup/take-backup.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { dayMs } from "../../src/lib/durations.ts";
import { noteLastBackup } from "../../src/store/database/last-backup.ts";
import { a, b, configOf, filed, fixture, isThere, seal, start } from "../support/aging-files.ts";

const late = start + 100 * dayMs;

async function running(timeUp?: () => AbortSignal) {
  const config = await configOf({ archive: 30, error: 30 });
  const told: string[] = [];
  const { store, locations } = fixture;
  const retention = createRetention({
    ...{ store, locations, ledgerNumbers: { seal }, clock: { now: () => late }, config: () => config },
    ...(timeUp === undefined ? {} : { timeUp }),
    log: createLogger({ level: "info", destination: { write: (line) => void told.push(line) } }),
  });
  return { told, prune: () => retention.prune(late, new AbortController().signal) };
}

test("a kind whose time is up goes on in the next round, and so do the kinds after it", async () => {
  const { location } = await filed(a);
  const hurried = await running(() => AbortSignal.abort());
  expect(await hurried.prune()).toBe(false);
  expect(isThere(location)).toBe(true);
  const told = hurried.told.join("\n");
  for (const kind of ["archive", "error"]) expect(told).toContain(`"kind":"${kind}"`);
  const { prune } = await running();
  expect(await prune()).toBe(true);
  expect(isThere(location)).toBe(false);
});

test("a kind that fails is told, does not stop the kinds after it, and is tried again", async () => {
  const applied = await filed(a);
  const refused = await filed(b, { state: "refused" });
  const { store } = fixture;
  await store.write("site", (tx) => tx.schema.alterTable("imports").renameTo("imports_away").execute());
  const { told, prune } = await running();
  expect(await prune()).toBe(false);
  expect(told.join("\n")).toContain("what is too old cannot be removed; trying again later");
  expect([isThere(applied.location), isThere(refused.location)]).toEqual([false, false]);
  await store.write("site", (tx) => tx.schema.alterTable("imports_away").renameTo("imports").execute());
  expect(await prune()).toBe(true);
});

test("while another process removes what is too old, a pass says that it comes later", async () => {
  const { location } = await filed(a);
  const { told, prune } = await running();
  const isDone = await withPruneLock(fixture.stateDir, prune);
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
