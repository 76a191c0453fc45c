/** Backups and restores of the real program that die at a step: what they leave, and what is made of it. */
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { lockExclusively } from "../../src/store/database/sqlite-dialect.ts";
import { oneParser, program, Site } from "../support/daemon.ts";
import { runProgram } from "../support/run-program.ts";
import { send, stopFile } from "../support/stop-files.ts";
import { killedExitCode } from "./crash-host.ts";
// A backup by dropgate copies the file of SQLite; a server has tools of its own.
import { itOnSqlite as test } from "../support/store-dialect.ts";
import { sampled } from "../support/sampled.ts";

let site: Site;
let backups: string;

async function make(): Promise<void> {
  site = await Site.make({ inbound: oneParser });
  backups = await mkdtemp(join(tmpdir(), "dropgate-backups-"));
}

async function end(): Promise<void> {
  await site.end();
  await rm(backups, { recursive: true, force: true });
}

/** Runs a command that dies at a step; it must have died there. */
async function dieAt(step: string, ...args: readonly string[]): Promise<void> {
  const env = { ...process.env, DROPGATE_KILL_POINT: step };
  const { exitCode, output } = await runProgram(program, [...args, "--config", site.configFile], { env });
  expect(exitCode, `${step}: ${output}`).toBe(killedExitCode);
}

describe("a crash of a backup", () => {
  // One daemon works beside all of them.
  beforeAll(async () => {
    await make();
    await site.start();
    await send(site, stopFile("K1"));
  });
  afterAll(end);

  test.each(
    sampled(
      [
        "mkdir@take-backup.makePart",
        "syncFolder@sqlite-schema.copyDatabase",
        "link@take-files.linkOrCopy:2",
        "copyFile@take-files.copy",
        "write@take-backup.finish:2",
        "rename@take-backup.takeLocked",
      ],
      2,
    ),
  )("at %s leaves none that is not whole, and the next one is", async (step) => {
    const folder = join(backups, step);
    await dieAt(step, "backup", folder);
    const whole = (await readdir(folder)).filter((name) => !name.endsWith(".part"));
    if (whole.length > 0) expect(await site.mustRun("backup", folder, "--verify")).toContain("is whole");
    const made = await site.json<{ folder: string }>("backup", folder);
    const left = (await readdir(folder)).filter((name) => join(folder, name) !== made.folder);
    expect(left).toEqual(whole);
    expect(await site.mustRun("backup", folder, "--verify")).toContain("is whole");
  });
});

describe("a crash of a restore", () => {
  // All of them restore one backup.
  beforeAll(async () => {
    await make();
    await site.start();
    await send(site, stopFile("K2"));
    await site.mustRun("backup", backups);
  });
  afterAll(end);

  test.each(
    sampled(
      [
        "create@restore-backup.restoreLocked",
        "copyFile@restore-backup.copyFiles:2",
        "unlink@restore-backup.finish",
        "rename@restore-backup.finish",
        "rename@restore-backup.finish:2",
      ],
      2,
    ),
  )("at %s leaves a whole state or none, and can be done again", async (step) => {
    await site.stop();
    await rm(site.stateDir, { recursive: true });
    await dieAt(step, "restore", backups, "--to", site.stateDir);
    if (!existsSync(join(site.stateDir, "dropgate.db"))) {
      const served = await site.cli("serve");
      expect([served.exitCode, served.output]).toEqual([1, expect.stringContaining("dropgate cannot start")]);
      await site.mustRun("restore", backups, "--to", site.stateDir);
    }
    await site.start();
    expect(await send(site, stopFile("K2"))).toMatchObject({ status: 10 });
    expect(await site.mustRun("ledger", "verify")).toContain("The ledger is correct: 2 entries");
  });
});

describe("another restore to the folder", () => {
  beforeEach(make);
  afterEach(end);

  test("is refused while one runs", async () => {
    await site.mustRun("backup", backups);
    const elsewhere = join(site.folder, "elsewhere");
    await dieAt("copyFile@restore-backup.copyFiles", "restore", backups, "--to", elsewhere);
    const left = await readdir(elsewhere);
    const lock = lockExclusively(join(elsewhere, "dropgate.restore.lock"));
    const refused = await site.cli("restore", backups, "--to", elsewhere);
    expect([refused.exitCode, refused.output]).toEqual([1, expect.stringContaining("another restore to")]);
    expect(await readdir(elsewhere)).toEqual(left);
    lock.release();
    await site.mustRun("restore", backups, "--to", elsewhere);
    expect(await readdir(elsewhere)).not.toContain("dropgate.restore.lock");
  });

  test("finds no mark of one cut off at its last steps, by which it would clear a state", async () => {
    await site.mustRun("backup", backups);
    const elsewhere = join(site.folder, "elsewhere");
    await dieAt("rename@restore-backup.finish:2", "restore", backups, "--to", elsewhere);
    // Years later the database is lost, and nothing else.
    await rm(join(elsewhere, "dropgate.db"));
    const left = await readdir(elsewhere);
    const refused = await site.cli("restore", backups, "--to", elsewhere);
    expect([refused.exitCode, refused.output]).toEqual([1, expect.stringContaining("is not empty")]);
    expect(await readdir(elsewhere)).toEqual(left);
  });
});
