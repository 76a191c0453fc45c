import { describe, expect, test } from "vitest";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { noteBackupState } from "../../store/database/backup-state.ts";
import { noteLastBackup } from "../../store/database/last-backup.ts";
import { createBackupSchedule } from "./backup-schedule.ts";
import type { BackupConfig, BackupTask } from "./backup-task.ts";
import { dayMs, hourMs, minuteMs } from "../../lib/durations.ts";

/** An hour before the backup of the day. */
const start = Date.UTC(2026, 10, 5, 1);

const keep = { daily: 0, weekly: 0, monthly: 0 };
const always = {
  folder: "/backups",
  schedule: "0 2 * * *",
  zone: "UTC",
  incremental: true,
  rereadWithin: 0,
  keep,
  warnAfterHours: 48,
};

/** A schedule whose clock and process a test has in hand. */
async function scheduleOf(backup: BackupConfig["backup"] = always) {
  const store = await openFreshStore(temporaryFolder());
  let now = start;
  const tasks: BackupTask[] = [];
  let failure: Error | undefined;
  const note = async (folder: string) => {
    const facts = { folder, files: 1, bytes: 1 };
    await store.write("site", (tx) =>
      noteLastBackup(tx, { ...facts, begunAt: now, endedAt: now, discrepancies: 0 }),
    );
    return facts;
  };
  const make = async (task: BackupTask) => {
    tasks.push(task);
    if (failure !== undefined) throw failure;
    return { ...(await note("/backups/one")), shared: 0, removed: [], warnings: [], discrepancies: [] };
  };
  const config: { -readonly [Key in keyof BackupConfig]: BackupConfig[Key] } = {
    ...{ stateDir: "/state", integrations: {}, backup },
  };
  const log = createLogger({ level: "silent" });
  const deps = { store, log, make, config: () => config, configFile: "/etc/dropgate.yaml" };
  const schedule = createBackupSchedule({
    ...deps,
    clock: { now: () => now },
    trigger: () => ({ stop: () => undefined }),
  });
  return {
    tasks,
    note,
    config,
    failure: () => schedule.failure(),
    fail: (error: Error | undefined) => {
      failure = error;
    },
    /** Starts it after a run of the daemon that has noted this failure. */
    async startAfter(at: number) {
      await store.write("site", (tx) =>
        noteBackupState(tx, { failure: { at, message: "the disk is full" } }),
      );
      await schedule.start(new AbortController().signal);
      return schedule.failure();
    },
    /** How many backups were made at that moment, counted from the start of the schedule. */
    async at(afterMs: number) {
      now = start + afterMs;
      const before = tasks.length;
      await schedule.look();
      return tasks.length - before;
    },
    end: async () => {
      await schedule.stop(AbortSignal.abort());
      await store.close();
    },
  };
}

describe("the schedule of backups", () => {
  test("makes one when it is due, and the next a day later, also after a time in which nothing ran", async () => {
    const site = await scheduleOf();
    await site.note("/backups/before");
    expect(await site.at(59 * minuteMs)).toBe(0);
    expect(await site.at(hourMs)).toBe(1);
    expect(await site.at(hourMs + minuteMs)).toBe(0);
    expect(await site.at(25 * hourMs)).toBe(1);
    // Three were missed: one makes up for them.
    expect(await site.at(100 * hourMs)).toBe(1);
    expect(await site.at(100 * hourMs + minuteMs)).toBe(0);
    expect(site.tasks[0]?.request.configFile).toBe("/etc/dropgate.yaml");
    await site.end();
  });

  test("makes the first one at once, and counts none that lies elsewhere", async () => {
    const site = await scheduleOf();
    await site.note("/media/stick/one");
    expect(await site.at(minuteMs)).toBe(1);
    expect(await site.at(2 * minuteMs)).toBe(0);
    await site.at(59 * minuteMs);
    await site.note("/media/stick/two");
    expect(await site.at(59 * minuteMs)).toBe(0);
    expect(await site.at(hourMs)).toBe(1);
    await site.end();
  });

  test("tries one that failed again after half an hour", async () => {
    const site = await scheduleOf();
    site.fail(new Error("the disk is full"));
    expect(await site.at(hourMs)).toBe(1);
    expect(await site.at(hourMs + 29 * minuteMs)).toBe(0);
    site.fail(undefined);
    expect(await site.at(hourMs + 30 * minuteMs)).toBe(1);
    expect(await site.at(hourMs + 31 * minuteMs)).toBe(0);
    await site.end();
  });

  test("fails no more once somebody has made one by hand, until the next of its own fails", async () => {
    const site = await scheduleOf();
    site.fail(new Error("the disk is full"));
    await site.at(hourMs);
    await site.at(hourMs + 30 * minuteMs);
    expect(site.failure()).toEqual({ at: start + hourMs, message: "the disk is full" });
    await site.note("/backups/by-hand");
    await site.at(hourMs + 31 * minuteMs);
    expect(site.failure()).toBeUndefined();
    await site.at(25 * hourMs);
    expect(site.failure()).toEqual({ at: start + 25 * hourMs, message: "the disk is full" });
    await site.end();
  });

  test("still fails after a restart, unless somebody has made one by hand or none is scheduled", async () => {
    const [failed, made, never] = [await scheduleOf(), await scheduleOf(), await scheduleOf()];
    const at = start - hourMs;
    expect(await failed.startAfter(at)).toEqual({ at, message: "the disk is full" });
    await made.note("/backups/by-hand");
    expect(await made.startAfter(at)).toBeUndefined();
    const { schedule: _schedule, ...unscheduled } = always;
    never.config.backup = unscheduled;
    expect(await never.startAfter(at)).toBeUndefined();
    for (const site of [failed, made, never]) await site.end();
  });

  test("fails no more when none is scheduled any more", async () => {
    const site = await scheduleOf();
    site.fail(new Error("the disk is full"));
    await site.at(hourMs);
    const { schedule: _schedule, ...never } = always;
    site.config.backup = never;
    await site.at(hourMs + minuteMs);
    expect(site.failure()).toBeUndefined();
    await site.end();
  });

  test("goes on when the clock is set back from a time that was ahead", async () => {
    const site = await scheduleOf();
    expect(await site.at(1_000 * hourMs)).toBe(1);
    expect(await site.at(2 * hourMs)).toBe(1);
    expect(await site.at(dayMs)).toBe(0);
    expect(await site.at(25 * hourMs)).toBe(1);
    await site.end();
  });

  test("makes none without a folder or a schedule", async () => {
    const { folder: _folder, ...nowhere } = always;
    const { schedule: _schedule, ...never } = always;
    for (const backup of [nowhere, never]) {
      const site = await scheduleOf(backup);
      expect(await site.at(100 * hourMs)).toBe(0);
      await site.end();
    }
  });
});
