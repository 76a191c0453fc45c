/** A state directory that is mistyped, not mounted, or not whole: never served as an empty one. */
import { copyFile, cp, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { company, oneParser, Site, user } from "../support/daemon.ts";
import { resultInProcess } from "../support/run-in-process.ts";
import { send, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { itOnSqlite as test } from "../support/store-dialect.ts";

let site: Site;

beforeEach(async () => {
  site = await Site.make({ inbound: oneParser });
});
afterEach(() => site.end());

const inState = (...names: readonly string[]) => join(site.stateDir, ...names);

/** `serve` and `check` both say so; neither changes what is there. */
async function expectRefused(words: string): Promise<void> {
  const served = await site.cli("serve");
  expect(served.exitCode, served.output).toBe(1);
  expect(served.output).toContain(`dropgate cannot start: ${words}`);
  expect(served.output.trim().split("\n")).toHaveLength(1);
  const checked = await resultInProcess(site, "check");
  expect(checked.exitCode, checked.output).toBe(2);
  expect(checked.output).toContain(words);
}

function initAgain() {
  return site.mustRun("init", "--dir", site.folder, "--company", company, "--user", user);
}

/** Moves the state away, as when it is not mounted; gives the way to have it back. */
async function unmount(): Promise<() => Promise<void>> {
  const away = `${site.stateDir}.away`;
  await rename(site.stateDir, away);
  return async () => {
    await rm(site.stateDir, { recursive: true, force: true });
    await rename(away, site.stateDir);
  };
}

describe("serve and check refuse", () => {
  test("a state directory that does not exist, and make none; or that is empty, as when its disk is not mounted, and leave it empty", async () => {
    const mount = await unmount();
    await expectRefused(`the state directory ${site.stateDir} does not exist: mount`);
    expect(await readdir(site.folder)).not.toContain("var");
    await mkdir(site.stateDir);
    await expectRefused(`there is no state in ${site.stateDir}, neither database nor marker: mount`);
    expect(await readdir(site.stateDir)).toEqual([]);
    await mount();
    await site.start();
  });

  test("one without its database", async () => {
    for (const name of await readdir(site.stateDir)) {
      if (name.startsWith("dropgate.db")) await rm(inState(name));
    }
    await expectRefused(`${inState("dropgate.db")} is missing although`);
    expect(await readdir(site.stateDir)).not.toContain("dropgate.db");
  });

  test("one whose database is empty, and leave it empty", async () => {
    for (const name of await readdir(site.stateDir)) {
      if (name.startsWith("dropgate.db")) await rm(inState(name));
    }
    await writeFile(inState("dropgate.db"), "");
    const words = `${inState("dropgate.db")} is empty although`;
    await expectRefused(words);
    for (const command of [
      ["user", "list"],
      ["company", "add", "BETA"],
    ]) {
      expect((await resultInProcess(site, ...command)).output, command.join(" ")).toContain(words);
    }
    await expectRefused(words);
  });

  test("one whose marker is missing, or a host key, that for old clients when they are let in, until init makes it", async () => {
    await site.start();
    await site.stop();
    await rm(inState("dropgate.instance"));
    const served = await site.cli("serve");
    expect(served.exitCode).toBe(1);
    expect(served.output).toContain(`${inState("dropgate.instance")} is missing beside the database`);
    expect((await resultInProcess(site, "check")).output).toContain("its instance marker is not complete");
    await initAgain();
    // It has nothing to say of the marker any more.
    const key = inState("keys", "ssh_host_ed25519_key");
    await rm(key);
    await expectRefused(`the SSH host key ${key} is missing`);
    expect(await initAgain()).toContain(`made SSH host key ${key}`);
    await site.reconfigure({ sftp: { legacyAlgorithms: true } });
    await expectRefused(`the SSH host key ${inState("keys", "ssh_host_rsa_key")} is missing`);
    await initAgain();
    await site.start();
  });

  test("a database of another place", async () => {
    await writeFile(inState("dropgate.instance"), "another\n");
    const served = await site.cli("serve");
    expect(served.exitCode).toBe(1);
    expect(served.output).toContain("is not the one that belongs there");
  });
});

test("no command but init makes a state", async () => {
  const mount = await unmount();
  await mkdir(site.stateDir);
  for (const words of [["company", "add", "BETA"], ["user", "list"], ["ledger", "verify"], ["files"]]) {
    const result = await resultInProcess(site, ...words);
    expect(result.exitCode, words.join(" ")).toBe(2);
    expect(result.output).toContain(`there is no state in ${site.stateDir}`);
  }
  expect(await readdir(site.stateDir)).toEqual([]);
  await initAgain();
  expect(await readdir(site.stateDir)).toContain("dropgate.db");
  await site.start();
  await site.stop();
  await mount();
});

describe("an older database that was restored over a newer one", () => {
  const database = () => inState("dropgate.db");

  async function readiness(): Promise<{ status: number; ledger: boolean | undefined }> {
    const answer = await fetch(`${site.http}/readyz`);
    const { checks } = (await answer.json()) as { checks: Record<string, boolean> };
    return { status: answer.status, ledger: checks["ledger"] };
  }

  /** A database, a file that is applied after it was copied, and the copy in its place. */
  async function restoreOlder(): Promise<void> {
    await site.start();
    await site.stop();
    await copyFile(database(), `${database()}.copy`);
    await site.start();
    await send(site, stopFile("R100"));
    await site.stop();
    for (const suffix of ["", "-wal", "-shm"]) await rm(database() + suffix, { force: true });
    await rename(`${database()}.copy`, database());
  }

  test("is told by check, the log and readiness, until the ledger was verified", async () => {
    await restoreOlder();
    const checked = await resultInProcess(site, "check");
    expect(checked.exitCode, checked.output).toBe(0);
    expect(checked.output).toContain("an older database was restored, which knows nothing since 20");
    await site.start();
    const told = await site.daemon.waitForLog(({ msg }) => msg.includes("an older database was restored"));
    expect(told).toMatchObject({ level: "error", msg: expect.stringContaining("`dropgate ledger verify`") });
    expect(await readiness()).toEqual({ status: 503, ledger: false });
    // A restart, also after a crash, does not make it known.
    await site.kill();
    await site.start();
    expect(await readiness()).toEqual({ status: 503, ledger: false });
    const verified = await resultInProcess(site, "ledger", "verify");
    expect(verified.exitCode, verified.output).toBe(1);
    expect(verified.output).toContain("r100_20261105_080000.xml");
    await waitFor("readiness", async () => (await readiness()).status === 200 || undefined);
    await site.stop();
    await site.start();
    expect(await readiness()).toEqual({ status: 200, ledger: true });
  });

  test("is none when the whole state is as it was, nor after crashes", async () => {
    await site.start();
    await site.stop();
    await cp(site.stateDir, `${site.stateDir}.copy`, { recursive: true });
    await site.start();
    await send(site, stopFile("R101"));
    await site.kill();
    for (const point of ["commit@generation.countUp", "unit@meta.noteBoot"]) {
      await expect(site.start({ env: { DROPGATE_KILL_POINT: point } })).rejects.toThrow("ended with 137");
    }
    await site.start();
    expect(await readiness()).toEqual({ status: 200, ledger: true });
    await site.stop();
    await rm(site.stateDir, { recursive: true });
    await rename(`${site.stateDir}.copy`, site.stateDir);
    await site.start();
    expect(await readiness()).toEqual({ status: 200, ledger: true });
  });
});
