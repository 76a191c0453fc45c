/** A full disk, folders that cannot be written, files that cannot be read: clear words, and work goes on afterwards. */
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, rm, statfs, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { http, lftp, sftp } from "../support/clients.ts";
import { company, program, Site } from "../support/daemon.ts";
import { curlFtp } from "../support/ftp-clients.ts";
import { isInstalled, runProgram } from "../support/run-program.ts";
import {
  fileName,
  filedIn,
  put,
  receiptFor,
  send,
  stopElement,
  stopFile,
  waitingIn,
  writeLocally,
} from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

const isRoot = process.getuid?.() === 0;

async function canMount(): Promise<boolean> {
  if (!isRoot) return false;
  const folder = await mkdtemp(join(tmpdir(), "dropgate-mount-"));
  const mounted = await runProgram("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
  if (mounted.exitCode === 0) await runProgram("umount", [folder]);
  await rm(folder, { recursive: true });
  return mounted.exitCode === 0;
}

const mayMount = await canMount();

async function verify(site: Site): Promise<unknown> {
  return (await site.json<{ discrepancies: unknown }>("ledger", "verify")).discrepancies;
}

/** What the server says of an upload that it refuses: OpenSSH's client shows its own words instead, lftp the server's. */
async function refusalOf(site: Site, name: string): Promise<string | undefined> {
  const result = isInstalled("lftp")
    ? await lftp(site, [`put -O /inbound ${name}`])
    : await sftp(site, [`put ${name} inbound/${name}`]);
  return result.exitCode === 0 ? undefined : result.output;
}

function expectWords(refusal: string | undefined, words: RegExp): void {
  expect(refusal).toMatch(isInstalled("lftp") ? words : /Failure/);
}

async function tryPut(site: Site, name: string) {
  return await sftp(site, [`put ${name} inbound/${name}`]);
}

describe.skipIf(!mayMount)("a full disk (only where a tmpfs can be mounted)", () => {
  let site: Site;
  let disk: string;

  beforeAll(async () => {
    disk = await mkdtemp(join(tmpdir(), "dropgate-disk-"));
    await runProgram("mount", ["-t", "tmpfs", "-o", "size=48m", "tmpfs", disk]);
    const ftp = { enabled: true, allowPlain: true };
    site = await Site.make({ ftp, storage: { minFree: { percent: 50, bytes: "2GB" } } }, join(disk, "var"));
    await site.start();
  });
  afterAll(async () => {
    await site.end();
    await runProgram("umount", [disk]);
    await rm(disk, { recursive: true, force: true });
  });

  const ballast = () => join(disk, "ballast");

  async function fill(bytes: number): Promise<void> {
    await runProgram("dd", [
      "if=/dev/zero",
      `of=${ballast()}`,
      "bs=64k",
      `count=${Math.ceil(bytes / 65_536)}`,
    ]);
  }

  async function expectRefusedOverFtp(name: string, words: RegExp): Promise<void> {
    if (!isInstalled("curl")) return;
    const put = await curlFtp(site, "/inbound/", ["-v", "-T", name], { certFile: "", mode: "plain" });
    expect(put.exitCode).not.toBe(0);
    expect(put.output).toMatch(words);
  }

  test("below storage.minFree uploads are refused in words, and taken again once there is room", async () => {
    expect(await send(site, stopFile("E100"))).toMatchObject({ status: 10 });
    await fill(30_000_000);
    await writeLocally(site, [stopFile("E101")]);
    const refused = await waitFor("a refusal", () => refusalOf(site, fileName("E101")));
    expectWords(refused, /disk has less than .* free/);
    expect(refused).not.toContain(join(disk, "var"));
    await expectRefusedOverFtp(fileName("E101"), /452 .*disk has less than .* free/);
    await expectFileStays();
    await expectTrace();
    await unlink(ballast());
    await waitFor("an upload is taken", async () => (await tryPut(site, fileName("E101"))).exitCode === 0);
    expect((await receiptFor(site, fileName("E101"))).status).toBe(10);
    expect((await receiptFor(site, fileName("E102"))).status).toBe(10);
    const { refusedUploads } = await site.daemon.waitForLog(({ msg }) => msg === "files are taken again");
    expect(Number(refusedUploads)).toBeGreaterThanOrEqual(1);
    expect(await readiness()).not.toContain("no more files are taken");
  });

  /** A file that is dropped into a folder waits there. */
  async function expectFileStays(): Promise<void> {
    const file = stopFile("E102");
    await writeFile(site.path("inbound", file.name), file.content);
    await site.daemon.waitForLog(({ msg }) => msg === "files of a watched folder stay where they are");
    expect(await site.json<unknown[]>("files", "--stop", "E102")).toEqual([]);
    expect(await readdir(site.path("inbound"))).toContain(file.name);
  }

  async function readiness(): Promise<string> {
    const answer = await fetch(`${site.http}/readyz`);
    expect(answer.status).toBe(200);
    return await answer.text();
  }

  /** Told once in the log, counted, and named by readiness, which stays 200. */
  async function expectTrace(): Promise<void> {
    expect(await readiness()).toMatch(/no more files are taken .*storage\.minFree/);
    const explain = async () => (await site.cli("explain", fileName("E101"))).output;
    const told = await waitFor("the report of the daemon", async () => {
      const text = await explain();
      return text.includes("no more files are taken since") ? text : undefined;
    });
    expect(told).toMatch(/The disk is full: .*Uploads are refused/);
    expect(told).toMatch(/no more files are taken since \d+ s: .*; \d+ uploads were refused/);
    const metrics = await (await fetch(`${site.http}/metrics`)).text();
    expect(metrics).toMatch(/dropgate_uploads_refused_total\{company="ACME",reason="no_space"\} [1-9]/);
    const logged = site.daemon.log.filter(({ msg }) => msg.startsWith("no more files are taken"));
    expect(logged).toHaveLength(1);
  }

  test("to the last byte: uploads and requests fail in words, the daemon stays, and goes on once there is room", async () => {
    const before = site.daemon.pid;
    await site.reconfigure({ storage: { minFree: { percent: 0, bytes: 0 } } });
    site.daemon.process.kill("SIGHUP");
    await site.daemon.waitForLog(({ msg }) => msg === "configuration reloaded");
    // The list of what was held up before goes a moment after it, and would give its block back to the full disk.
    const heldList = join(site.stateDir, "dropgate.held.json");
    await waitFor("the list of held files to be gone", () => !existsSync(heldList));
    await fill(100_000_000);
    expect((await statfs(disk)).bavail).toBe(0);
    await writeLocally(site, [stopFile("E110"), stopFile("E111", { more: `<!--${"x".repeat(200_000)}-->` })]);
    expectWords(await refusalOf(site, fileName("E111")), /disk is full/i);
    await expectRefusedOverFtp(fileName("E111"), /452 .*disk is full/i);
    const document = { body: stopElement("E112", `<!--${"x".repeat(500_000)}-->`), type: "application/xml" };
    const answers = [];
    for (let attempt = 0; attempt < 3; attempt += 1)
      answers.push(await http(site, `/api/stop/${company}`, document));
    // A page that is free already may take a change; else the answer says that it is the service's trouble, not the host's.
    for (const { status, body } of answers) {
      if (status === 200) expect(body).toContain("<Status>10<");
      else expect([status, body.includes('ErrorMsgID="999"')]).toEqual([503, true]);
    }
    expect((await fetch(`${site.http}/healthz`)).status).toBe(200);

    await unlink(ballast());
    expect(site.daemon.exitCode).toBeUndefined();
    for (const name of [fileName("E110"), fileName("E111")]) {
      await waitFor(`${name} is taken`, async () => (await tryPut(site, name)).exitCode === 0);
      expect(await receiptFor(site, name)).toMatchObject({ status: 10 });
    }
    expect(site.daemon.pid).toBe(before);
    await waitFor("ready again", async () => (await fetch(`${site.http}/readyz`)).status === 200);
    expect(await waitingIn(site)).toEqual([]);
    expect(await verify(site)).toEqual([]);
  });
});

/** As root nothing is forbidden: the daemon then runs as nobody, where that user can reach the program. */
const nobody = 65_534;

async function canRunAsNobody(): Promise<boolean> {
  if (!isRoot) return true;
  const result = await runProgram("setpriv", [
    `--reuid=${nobody}`,
    `--regid=${nobody}`,
    "--clear-groups",
    program,
    "version",
  ]);
  return result.exitCode === 0;
}

describe.skipIf(!(await canRunAsNobody()))("rights that are missing (as an ordinary user)", () => {
  let site: Site;
  let share: string;

  beforeAll(async () => {
    site = await Site.make();
    share = join(site.folder, "share");
    await mkdir(share);
    await site.reconfigure({
      inbound: { settleMs: 200, scanMs: 400 },
      companies: { [company]: { folders: [{ path: share }] } },
    });
    if (isRoot) {
      await runProgram("chown", ["-R", `${nobody}:${nobody}`, site.folder]);
      // The clients are still started by us, and their keys have to be ours.
      for (const path of [site.keyFile, site.client]) await chown(path, 0, 0);
    }
    await site.start(isRoot ? { userId: nobody } : {});
  });
  afterAll(() => site.end());

  test("a read-only inbound: the upload fails in words at its close, its bytes are kept, and it can be finished later", async () => {
    expect(await send(site, stopFile("E200"))).toMatchObject({ status: 10 });
    await chmod(site.path("inbound"), 0o550);
    await writeLocally(site, [stopFile("E201")]);
    const refused = await refusalOf(site, fileName("E201"));
    await chmod(site.path("inbound"), 0o750);
    expectWords(refused, /cannot write to this folder/);
    expect(refused).not.toContain(site.stateDir);
    expect(await waitingIn(site)).toEqual([]);
    expect((await tryPut(site, fileName("E201"))).exitCode).toBe(0);
    expect(await receiptFor(site, fileName("E201"))).toMatchObject({ status: 10 });
  });

  test("a read-only archive: the stop is applied, the file filed away as soon as it can be", async () => {
    const day = site.path("archive", (await readdir(site.path("archive")))[0] ?? "");
    await chmod(day, 0o550);
    await put(site, stopFile("E210"));
    await site.daemon.waitForLog(({ msg }) => msg === "the file cannot be filed away yet");
    // Others go on meanwhile.
    expect(await send(site, { name: "e211.xml", content: "<Stop/>" })).toMatchObject({ status: 99 });
    await chmod(day, 0o750);
    expect(await receiptFor(site, fileName("E210"))).toMatchObject({ status: 10, records: [1, 0, 0] });
    expect(await filedIn(site, "archive")).toContain(fileName("E210"));
    expect(await waitingIn(site)).toEqual([]);
  });

  test("an unreadable file in a drop folder is reported once and holds up no other; it is taken when it can be read", async () => {
    const hidden = join(share, fileName("E220"));
    await writeFile(hidden, String(stopFile("E220").content), { mode: 0o000 });
    if (isRoot) await chown(hidden, 0, 0);
    await writeFile(join(share, fileName("E221")), String(stopFile("E221").content));
    if (isRoot) await chown(join(share, fileName("E221")), nobody, nobody);
    expect(await receiptFor(site, fileName("E221"))).toMatchObject({ status: 10 });
    const line = await site.daemon.waitForLog(({ msg }) => msg.startsWith("a file cannot be taken"));
    expect(line).toMatchObject({ file: fileName("E220"), systemCode: "EACCES" });
    expect(String(line["remedy"])).toContain("right to read");
    if (isRoot) await chown(hidden, nobody, nobody);
    await chmod(hidden, 0o640);
    expect(await receiptFor(site, fileName("E220"))).toMatchObject({ status: 10 });
    expect(site.daemon.log.filter(({ msg }) => msg.startsWith("a file cannot be taken"))).toHaveLength(1);
  });

  test("an unreadable file in inbound waits, is explained, and holds up no other", async () => {
    const path = site.path("inbound", fileName("E230"));
    await writeFile(path, String(stopFile("E230").content), { mode: 0o000 });
    if (isRoot) await chown(path, 0, 0);
    expect(await send(site, stopFile("E231"))).toMatchObject({ status: 10 });
    await site.daemon.waitForLog((line) => line.level === "warn" && line["file"] === fileName("E230"));
    expect(await site.mustRun("explain", fileName("E230"))).toMatch(/cannot be read|not in the ledger/);
    if (isRoot) await chown(path, nobody, nobody);
    await chmod(path, 0o640);
    expect(await receiptFor(site, fileName("E230"))).toMatchObject({ status: 10 });
    expect(await verify(site)).toEqual([]);
  });
});
