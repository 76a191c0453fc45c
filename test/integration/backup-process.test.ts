/** Processes that make a backup for the daemon, and get no further. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createBackupProcess } from "../../src/app/watch/backup-process-watch.ts";
import { createBackupSchedule } from "../../src/app/watch/backup-schedule.ts";
import type { BackupConfig } from "../../src/app/watch/backup-task.ts";
import { checkStore } from "../../src/app/checks/check-programs.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { findBackupState } from "../../src/store/database/backup-state.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const keep = { daily: 1, weekly: 0, monthly: 0 };
const task = {
  config: {
    ...{ stateDir: "/state", integrations: {} },
    backup: { folder: "/backups", zone: "UTC", incremental: true, rereadWithin: 0, warnAfterHours: 48, keep },
  },
  request: { configFile: "/etc/dropgate.yaml", version: "1" },
};
const report = {
  folder: "/backups/1",
  files: 1,
  bytes: 1,
  shared: 0,
  removed: [],
  warnings: [],
  discrepancies: [],
};

/** A program in the place of the one that makes backups. */
function program(text: string): string {
  const file = join(temporaryFolder(), "program.mjs");
  writeFileSync(file, text);
  return file;
}

const never = new AbortController().signal;

/** Makes one by that program, and counts how often it is said to get further. */
async function madeBy(text: string) {
  let progress = 0;
  const make = createBackupProcess({ idleMs: 5_000, lookMs: 50, file: program(text) });
  const progressed = () => {
    progress += 1;
  };
  const made = make(task, progressed, never);
  const outcome = await made.catch((error: Error) => error.message);
  return { outcome, progress };
}

const endSoon = `setTimeout(() => { process.stdout.write(${JSON.stringify(JSON.stringify(report))}); process.exit(); }, 9_000);`;

test("one that is idle for too long is ended, and its failure says what to look at", async () => {
  const { outcome } = await madeBy("setInterval(() => undefined, 100);");
  expect(outcome).toMatch(
    /^the backup made no progress for \d+ s, and its process was ended: see whether .* of backups \/backups/,
  );
});

test("one that tells of progress goes on for longer than that", async () => {
  const { outcome, progress } = await madeBy(
    `setInterval(() => process.stdout.write("\\n"), 100); ${endSoon}`,
  );
  expect(outcome).toEqual(report);
  expect(progress).toBeGreaterThan(3);
});

test("one that says nothing while it reads goes on too", async () => {
  const { outcome } = await madeBy(
    `import { readFileSync } from "node:fs";
     setInterval(() => { for (let i = 0; i < 3; i += 1) readFileSync(process.execPath); }, 100); ${endSoon}`,
  );
  expect(outcome).toEqual(report);
});

/** The processes that this one has begun. */
function children(): readonly number[] {
  const tasks = `/proc/${process.pid}/task`;
  const texts = readdirSync(tasks).map((id) => readFileSync(join(tasks, id, "children"), "utf8"));
  return texts.flatMap((text) => text.split(" ").filter(Boolean).map(Number));
}

/** The schedule of a state, whose backups are made by the program that is installed. */
async function siteOf() {
  const stateDir = temporaryFolder();
  const store = await openFreshStore(stateDir);
  const folder = join(temporaryFolder(), "backups");
  const backup = { ...task.config.backup, folder, schedule: "* * * * *" };
  const config: BackupConfig = { stateDir, integrations: {}, backup };
  const lines: { msg: string; err?: { message: string } }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  let ahead = 0;
  const configFile = join(stateDir, "dropgate.yaml");
  writeFileSync(configFile, "stateDir: here\n");
  const schedule = createBackupSchedule({
    ...{ store, configFile, config: () => config, clock: { now: () => Date.now() + ahead }, noteMs: 50 },
    log: createLogger({ level: "info", destination }),
    trigger: () => ({ stop: () => undefined }),
    make: createBackupProcess({ idleMs: 5_000, lookMs: 50 }),
  });
  onTestFinished(async () => {
    await schedule.stop(AbortSignal.abort());
    await store.close();
  });
  const later = async () => {
    ahead += 31 * 60_000;
    await schedule.look();
  };
  return { stateDir, folder, store, schedule, lines, later };
}

test("a process that is stopped is ended and noted as failed, and the next backup is made", async () => {
  const site = await siteOf();
  const before = new Set(children());
  const looked = site.later();
  const pid = await expect
    .poll(() => children().find((child) => !before.has(child)), { interval: 5, timeout: 60_000 })
    .toBeDefined()
    .then(() => children().find((child) => !before.has(child)));
  process.kill(pid ?? 0, "SIGSTOP");
  expect(site.schedule.running()?.begunAt).toBeGreaterThan(0);
  expect((await findBackupState(site.store.read)).running).toBeDefined();
  await looked;
  expect(site.lines).toMatchObject([
    {
      msg: "the backup failed; trying again in half an hour",
      err: { message: expect.stringMatching(/made no progress for \d+ s/) },
    },
  ]);
  expect(site.schedule.running()).toBeUndefined();
  const { running, failure } = await findBackupState(site.store.read);
  expect(running).toBeUndefined();
  expect(failure).toEqual(site.schedule.failure());
  expect((await checkStore(site.stateDir)).backupState).toEqual({ failure });
  await site.later();
  expect(readdirSync(site.folder).filter((name) => !name.endsWith(".part"))).toHaveLength(1);
  expect(await findBackupState(site.store.read)).toEqual({});
});
