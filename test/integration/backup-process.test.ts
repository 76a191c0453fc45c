/** Processes that make a backup for the daemon, and get no further. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { backUp } from "../../src/app/admin/backup-admin.ts";
import { createBackupHold, heldUpText } from "../../src/app/retention/backup-hold.ts";
import { type BackupProcessOptions, createBackupProcess } from "../../src/app/watch/backup-process-watch.ts";
import { createBackupSchedule } from "../../src/app/watch/backup-schedule.ts";
import type { BackupConfig } from "../../src/app/watch/backup-task.ts";
import { checkStore } from "../../src/app/checks/check-programs.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { backupName } from "../../src/backup/backup-folder.ts";
import { isBackupRunning } from "../../src/backup/take-backup.ts";
import { isRunning } from "../../src/lib/running-process.ts";
import { markerFileName } from "../../src/store/database/database.ts";
import { findBackupState } from "../../src/store/database/backup-state.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { itOnSqlite } from "../support/store-dialect.ts";

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
async function madeBy(text: string, idleMs = 15_000) {
  let progress = 0;
  const make = createBackupProcess({ idleMs, lookMs: 50, file: program(text) });
  const progressed = () => {
    progress += 1;
  };
  const made = make(task, progressed, never);
  const outcome = await made.catch((error: Error) => error.message);
  return { outcome, progress };
}

const printed = JSON.stringify(`${JSON.stringify(report)}\n`);
const endSoon = `setTimeout(() => { process.stdout.write(${printed}); process.exit(); }, 25_000);`;

test("one that is idle for too long is ended, and its failure says what to look at", async () => {
  const { outcome } = await madeBy("setInterval(() => undefined, 100);", 5_000);
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

test("one that hangs or dies when its backup is made has made it, and says why older ones are left", async () => {
  const hangs = await madeBy(`process.stdout.write(${printed}); setInterval(() => undefined, 100);`);
  expect(hangs.outcome).toEqual({
    ...report,
    notRemoved: expect.stringMatching(
      /^the removal of older backups made no progress for \d+ s, .* was ended/,
    ),
  });
  const dies = await madeBy(`process.stdout.write(${printed} + '{"folder":', () => process.abort());`);
  expect(dies.outcome).toEqual({ ...report, notRemoved: expect.stringMatching(/./) });
});

/** The processes that this one has begun. */
function children(): readonly number[] {
  const tasks = `/proc/${process.pid}/task`;
  const texts = readdirSync(tasks).map((id) => readFileSync(join(tasks, id, "children"), "utf8"));
  return texts.flatMap((text) => text.split(" ").filter(Boolean).map(Number));
}

/** The schedule of a state, whose backups are made by the program that is installed, unless the options name another. */
async function siteOf(options: BackupProcessOptions = {}) {
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
  const newSchedule = () =>
    createBackupSchedule({
      ...{ store, configFile, config: () => config, clock: { now: () => Date.now() + ahead }, noteMs: 50 },
      log: createLogger({ level: "info", destination }),
      trigger: () => ({ stop: () => undefined }),
      make: createBackupProcess({ idleMs: 15_000, lookMs: 50, ...options }),
    });
  const schedule = newSchedule();
  onTestFinished(async () => {
    await schedule.stop(AbortSignal.abort());
    await store.close();
  });
  const later = async () => {
    ahead += 31 * 60_000;
    await schedule.look();
  };
  /** The schedule of a daemon that is started after this one was killed. */
  const restarted = async () => {
    const next = newSchedule();
    await next.start(never);
    onTestFinished(() => next.stop(AbortSignal.abort()));
    return next;
  };
  return { stateDir, folder, config, configFile, store, schedule, lines, later, restarted };
}

// A backup by dropgate copies the file of SQLite; a server has tools of its own.
itOnSqlite(
  "a process that is stopped is ended and noted as failed, and the next backup is made",
  async () => {
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
    expect((await checkStore({ stateDir: site.stateDir })).backupState).toEqual({ failure });
    await site.later();
    expect(readdirSync(site.folder).filter((name) => !name.endsWith(".part"))).toHaveLength(1);
    expect(await findBackupState(site.store.read)).toEqual({});
  },
);

const source = (name: string) => JSON.stringify(new URL(`../../src/${name}`, import.meta.url).href);

// A backup by dropgate copies the file of SQLite; a server has tools of its own.
itOnSqlite(
  "one that removes many files for longer than it may be idle goes on, also those of one that was cut off",
  async () => {
    // As on a share whose calls take their time.
    const file = program(
      `import promises from "node:fs/promises";
     import { syncBuiltinESMExports } from "node:module";
     import { setTimeout } from "node:timers/promises";
     const { rm } = promises;
     promises.rm = async (...args) => { await setTimeout(80); return await rm(...args); };
     syncBuiltinESMExports();
     await import(${source("app/admin/backup-process.ts")});`,
    );
    const site = await siteOf({ file });
    const instance = readFileSync(join(site.stateDir, markerFileName), "utf8").trim();
    const [outdated, part] = [backupName(1_000, instance), `${backupName(2_000, instance)}.part`];
    for (const name of [outdated, part]) {
      mkdirSync(join(site.folder, name, "state"), { recursive: true });
      for (let i = 0; i < 320; i += 1) writeFileSync(join(site.folder, name, "state", String(i)), "");
    }
    await site.later();
    expect(site.lines).toMatchObject([
      { msg: "backup made", removed: [outdated] },
      { msg: "the backup is not as it was meant to be" },
    ]);
    expect(readdirSync(site.folder)).toHaveLength(1);
  },
);

// A backup by dropgate copies the file of SQLite; a server has tools of its own.
itOnSqlite(
  "while one hangs that cannot be ended no other is begun, and all say so until its process is gone",
  async () => {
    const hanging = join(temporaryFolder(), "hanging");
    writeFileSync(hanging, "");
    const file = program(
      `import { existsSync } from "node:fs";
     if (existsSync(${JSON.stringify(hanging)})) {
       const { lockBackups } = await import(${source("backup/take-backup.ts")});
       globalThis.lock = lockBackups(JSON.parse(process.argv[2]).config.stateDir);
       setInterval(() => undefined, 1_000);
     } else await import(${source("app/admin/backup-process.ts")});`,
    );
    const site = await siteOf({ file, endMs: 50, kill: () => undefined });
    await site.later();
    const { failure, hung } = await findBackupState(site.store.read);
    if (hung === undefined) throw new Error("none is noted that hangs");
    onTestFinished(() => void (isRunning(hung.process) && process.kill(hung.process.pid, "SIGKILL")));
    const { message } = hung;
    expect(message).toMatch(
      `process ${hung.process.pid} cannot be ended: it hangs in a call to the folder of backups`,
    );
    expect(failure?.message).toBe(message);
    expect(isBackupRunning(site.stateDir)).toBe(true);
    const begun = new Set(children());
    await site.later();
    const restarted = await site.restarted();
    expect(restarted.failure()).toEqual(failure);
    await restarted.look();
    expect(children().filter((pid) => !begun.has(pid))).toEqual([]);
    expect(restarted.failure()).toEqual(failure);
    expect(site.lines.map(({ err }) => err?.message)).toEqual([message, message, message]);
    const hold = createBackupHold(site.stateDir);
    hold.isHeldUp("archive");
    expect(await heldUpText(site.store.read, hold)).toBe(
      `a backup hangs: old files of archive stay until its process is gone (${message})`,
    );
    await expect(backUp(site.config, { configFile: site.configFile, version: "1" })).rejects.toThrow(message);
    process.kill(hung.process.pid, "SIGKILL");
    await expect.poll(() => isRunning(hung.process), { timeout: 20_000 }).toBe(false);
    rmSync(hanging);
    await site.later();
    expect(site.lines.at(-1)).toMatchObject({ msg: "backup made" });
    expect(await findBackupState(site.store.read)).toEqual({});
  },
);
