import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { checkBackups } from "./check-backups.ts";
import { hourMs } from "../../lib/durations.ts";

const now = Date.UTC(2026, 10, 5, 8);

function configured(settings: { readonly folder?: string; readonly warnAfterHours?: number } = {}) {
  vi.useFakeTimers({ now, toFake: ["Date"] });
  const keep = { daily: 0, weekly: 0, monthly: 0 };
  return {
    backup: { zone: "UTC", incremental: true, rereadWithin: 0, warnAfterHours: 48, keep, ...settings },
  };
}

function madeBefore(hours: number, discrepancies = 0) {
  const begunAt = now - hours * hourMs;
  return { folder: "/srv/b/1", begunAt, endedAt: begunAt + 1, files: 1, bytes: 1, discrepancies };
}

afterEach(() => {
  vi.useRealTimers();
});

test.each([
  [
    "told while it is young",
    48,
    undefined,
    "ok",
    "the last backup is of 2026-11-03T08:00:00.000Z (/srv/b/1)",
  ],
  ["warned about when it is old", 48.001, undefined, "warning", "older than backup.warnAfterHours"],
  ["as old as the setting says", 3, 2, "warning", "older than backup.warnAfterHours"],
  ["never too old where the setting is 0", 9_999, 0, "ok", "the last backup is of"],
])("the last backup is %s", async (_, hours, warnAfterHours, status, what) => {
  const config = configured(warnAfterHours === undefined ? {} : { warnAfterHours });
  const [found, ...more] = await checkBackups(config, madeBefore(hours));
  expect(found).toMatchObject({ status, what: expect.stringContaining(what) });
  expect(more).toEqual([]);
});

test("a young backup in which ledger and files disagreed is warned about", async () => {
  expect(await checkBackups(configured(), madeBefore(1, 3))).toMatchObject([
    {
      status: "warning",
      what: expect.stringContaining("disagreed then"),
      remedy: "run `dropgate ledger verify`",
    },
  ]);
});

test("that there was none yet is said where backups are asked for", async () => {
  expect(await checkBackups(configured(), undefined)).toEqual([]);
  const folder = temporaryFolder();
  expect(await checkBackups(configured({ folder }), undefined)).toMatchObject([
    { status: "warning", what: "no backup of this state was made yet" },
    { status: "ok", what: `the folder of backups ${folder} can be written` },
  ]);
  const never = await checkBackups(configured({ folder, warnAfterHours: 0 }), undefined);
  expect(never.map(({ status }) => status)).toEqual(["ok"]);
});

test("one that is being made is told, with a warning when it has made no progress for five minutes", async () => {
  const [begunAt, last] = [now - hourMs, madeBefore(30)];
  const found = async (progressAt: number) =>
    (await checkBackups(configured(), last, { running: { begunAt, progressAt } }))[1];
  const running = "a backup has been running since 2026-11-05T07:00:00.000Z";
  expect(await found(now - 299_999)).toMatchObject({ status: "ok", what: running });
  expect(await found(now - 300_000)).toMatchObject({
    status: "warning",
    what: `${running}, without progress since 2026-11-05T07:55:00.000Z`,
    remedy: expect.stringContaining("share of backup.folder"),
  });
});

test("that the scheduled one fails is told until one was made, or none is asked for", async () => {
  const folder = temporaryFolder();
  const state = { failure: { at: now - 2 * hourMs, message: "no space is left" } };
  const scheduled = { backup: { ...configured({ folder }).backup, schedule: "* * * * *" } };
  const failing = "the scheduled backup has failed since 2026-11-05T06:00:00.000Z: no space is left";
  const told = async (...args: Parameters<typeof checkBackups>) =>
    (await checkBackups(...args)).map(({ what }) => what);
  expect(await told(scheduled, madeBefore(3), state)).toContain(failing);
  expect(await told(scheduled, undefined, state)).toContain(failing);
  expect(await told(scheduled, madeBefore(1), state)).not.toContain(failing);
  expect(await told(configured({ folder }), madeBefore(3), state)).not.toContain(failing);
});

test("one that a clock which was ahead has dated in the future does not say that backups work again", async () => {
  const folder = temporaryFolder();
  const state = { failure: { at: now - 2 * hourMs, message: "no space is left" } };
  const scheduled = { backup: { ...configured({ folder }).backup, schedule: "* * * * *" } };
  const failing = { what: expect.stringContaining("the scheduled backup has failed since") };
  expect(await checkBackups(scheduled, madeBefore(-1), state)).toContainEqual(
    expect.objectContaining(failing),
  );
});

test("a folder for backups that cannot take one is named", async () => {
  const parent = temporaryFolder();
  const [missing, file] = [join(parent, "missing"), join(parent, "file")];
  writeFileSync(file, "");
  const found = async (folder: string) =>
    (await checkBackups(configured({ folder, warnAfterHours: 0 }), undefined))[0];
  expect(await found(missing)).toMatchObject({
    status: "warning",
    what: `the folder of backups ${missing} cannot be used (ENOENT)`,
  });
  expect(await found(file)).toMatchObject({
    status: "warning",
    what: `the folder of backups ${file} is no folder`,
  });
});
