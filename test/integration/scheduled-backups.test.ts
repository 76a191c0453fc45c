/** Backups that the daemon's schedule has made by a real process of its own. */
import { hash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { listName } from "../../src/backup/backup-folder.ts";
import { createBackupSchedule } from "../../src/app/watch/backup-schedule.ts";
import type { BackupConfig } from "../../src/app/watch/backup-task.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { findLastBackup } from "../../src/store/database/last-backup.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
// A backup by dropgate copies the file of SQLite; a server has tools of its own.
import { itOnSqlite as test } from "../support/store-dialect.ts";

/** A schedule of each minute over a state, and a clock that a test puts forward. */
async function scheduleInto(folder: string) {
  const stateDir = temporaryFolder();
  const store = await openFreshStore(stateDir);
  mkdirSync(join(stateDir, "keys"));
  writeFileSync(join(stateDir, "keys", "ssh_host_ed25519_key"), "key");
  // What a document contains never changes, and is shared; keys are copied each time.
  const sha256 = hash("sha256", "content", "hex");
  const contents = join(stateDir, "documents", sha256.slice(0, 2), sha256.slice(2, 4));
  mkdirSync(contents, { recursive: true });
  writeFileSync(join(contents, sha256), "content");
  const configFile = join(stateDir, "dropgate.yaml");
  writeFileSync(configFile, "stateDir: here\n");
  const keep = { daily: 1, weekly: 0, monthly: 0 };
  const times = { schedule: "* * * * *", zone: "UTC", warnAfterHours: 48 };
  const backup = { folder, incremental: true, rereadWithin: 0, keep, ...times };
  const config: BackupConfig = { stateDir, integrations: {}, backup };
  const lines: { msg: string; err?: { message: string } }[] = [];
  const log = createLogger({
    level: "info",
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  let ahead = 0;
  const clock = { now: () => Date.now() + ahead };
  const trigger = () => ({ stop: () => undefined });
  const schedule = createBackupSchedule({ store, clock, log, trigger, configFile, config: () => config });
  return {
    ...{ lines, store, configFile },
    schedule,
    /** After the time at which the next one is due, or a failed one is tried again. */
    async later() {
      ahead += 31 * 60_000;
      await schedule.look();
    },
    async end() {
      await schedule.stop(AbortSignal.abort());
      await store.close();
    },
  };
}

test("they are logged, noted, and the older one of the day goes", async () => {
  const folder = join(temporaryFolder(), "backups");
  const site = await scheduleInto(folder);
  await site.later();
  const [first] = readdirSync(folder);
  await site.later();
  const left = readdirSync(folder);
  expect(left).toHaveLength(1);
  expect(left[0]).not.toBe(first);
  expect(site.lines).toMatchObject([
    { msg: "backup made", shared: 0, removed: [] },
    { msg: "backup made", shared: 1, removed: [first] },
  ]);
  expect(site.schedule.last()?.folder).toBe(join(folder, left[0] ?? ""));
  expect((await findLastBackup(site.store.read))?.discrepancies).toBe(0);
  await site.end();
});

test("one that shares nothing, for the one before it cannot be read, is logged with a warning", async () => {
  const folder = join(temporaryFolder(), "backups");
  const site = await scheduleInto(folder);
  await site.later();
  const [first = ""] = readdirSync(folder);
  rmSync(join(folder, first, listName));
  rmSync(site.configFile);
  await site.later();
  expect(site.lines.slice(1)).toMatchObject([
    { msg: "backup made", shared: 0 },
    {
      level: "warn",
      warning: expect.stringMatching(`^the newest backup cannot be read.*${first}.* full one$`),
    },
    { level: "warn", warning: expect.stringMatching(/^not in the backup: .*dropgate\.yaml/) },
  ]);
  await site.end();
});

test("one that fails is logged with what is wrong, and made when that is repaired", async () => {
  const parent = temporaryFolder();
  const folder = join(parent, "backups");
  writeFileSync(folder, "a file");
  const site = await scheduleInto(folder);
  await site.later();
  expect(site.lines).toMatchObject([{ msg: "the backup failed; trying again in half an hour" }]);
  expect(site.lines[0]?.err?.message).toContain(`backups cannot be kept in ${folder}`);
  expect(await findLastBackup(site.store.read)).toBeUndefined();
  const failure = site.schedule.failure();
  expect(failure?.message).toContain("backups cannot be kept");
  await site.later();
  expect(site.schedule.failure()).toEqual(failure);
  rmSync(folder);
  await site.later();
  expect(site.lines.at(-1)).toMatchObject({ msg: "backup made" });
  expect(site.schedule.failure()).toBeUndefined();
  await site.end();
});
