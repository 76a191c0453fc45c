/** What an administrator asks for while the daemon runs: explain, file retry, drop folders, validate, the ledger. */
import { existsSync, writeFileSync } from "node:fs";
import { mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getStop, importPartner, sftp } from "../support/clients.ts";
import { company, Site } from "../support/daemon.ts";
import {
  carrier,
  codesOf,
  fileName,
  filedIn,
  put,
  receiptFor,
  receiptName,
  type StopFile,
  send,
  stopFile,
  waitingIn,
  writeLocally,
} from "../support/stop-files.ts";
import { runProgram } from "../support/run-program.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;
let share: string;

beforeAll(async () => {
  site = await Site.make();
  share = join(site.folder, "share");
  await mkdir(share);
  await site.reconfigure({
    inbound: { settleMs: 300, scanMs: 500 },
    companies: { [company]: { folders: [{ path: share, label: "warehouse" }] } },
  });
  await site.start();
});
afterAll(() => site.end());

interface Entry {
  readonly id: number;
  readonly name: string;
  readonly state: string;
  readonly channel: string;
}

async function entriesOf(name: string): Promise<Entry[]> {
  return (await site.json<Entry[]>("files")).filter((entry) => entry.name === name);
}

describe("file retry", () => {
  test("a file refused for its carrier is applied once the carrier is there, and its receipt says so", async () => {
    const file = stopFile("A100", { more: carrier("LATER"), stopFunction: "03" });
    expect(codesOf(await send(site, file))).toEqual([925]);
    const [entry] = await entriesOf(file.name);
    const wait = await site.cli("file", "retry", String(entry?.id));
    expect(wait.exitCode, wait.output).toBe(0);
    // Still without the carrier: refused again.
    await waitFor("the second refusal", () => {
      const refusals = site.daemon.log.filter(
        ({ msg, file: name }) => msg === "file refused" && name === file.name,
      );
      return refusals.length === 2;
    });
    await importPartner(site, "LATER");
    await waitFor(
      "the retry is taken",
      async () => (await site.cli("file", "retry", String(entry?.id))).exitCode === 0,
    );
    await waitFor("the file is applied", async () => (await receiptFor(site, file.name)).status === 10);
    expect(await getStop(site, "A100")).toMatchObject({ stopStatus: "10" });
    expect(await filedIn(site, "archive")).toContain(file.name);
    expect(await filedIn(site, "error")).not.toContain(file.name);
    const left = await readdir(site.path("error"), { recursive: true });
    expect(left.filter((name) => name.includes("a100"))).toEqual([]);
    const applied = await site.cli("file", "retry", String(entry?.id));
    expect(applied.exitCode).toBe(1);
    expect(applied.output).toContain("applied");
    // What was decided before is not forgotten.
    const { stdout } = await site.cli("file", "show", String(entry?.id));
    expect(stdout.match(/Again +asked for .*; it was refused .* \(925\)/g)).toHaveLength(2);
    expect((await site.cli("explain", file.name)).stdout).toMatch(
      /Before that refused .* \(925\); somebody asked for it to be tried again/,
    );
  });

  test("files are chosen by time, name, reason, channel and user, to be listed and to be tried again together", async () => {
    const files = ["A110", "A111", "A112"].map((stopNbr) =>
      stopFile(stopNbr, { more: carrier("LATEST"), stopFunction: "03" }),
    );
    for (const file of files) expect(codesOf(await send(site, file))).toEqual([925]);
    const [first, second, third] = await Promise.all(
      files.map(async ({ name }) => (await entriesOf(name))[0]?.id),
    );
    const numbers = async (...args: readonly string[]) =>
      (await site.json<Entry[]>("files", ...args)).map(({ id }) => id).toReversed();
    const chosen = ["--name", "a11?_*", "--reason", "925", "--since", "1h"];
    expect(await numbers(...chosen)).toEqual([first, second, third]);
    expect(await numbers(...chosen, "--channel", "sftp", "--user", "host")).toEqual([first, second, third]);
    for (const none of [
      ["--channel", "ftp"],
      ["--user", "guest"],
      ["--until", "1h"],
      ["--reason", "951"],
    ])
      expect(await numbers("--name", "a11?_*", ...none)).toEqual([]);
    const retry = (...args: readonly string[]) => site.cli("file", "retry", ...args);
    expect((await retry(...chosen)).output).toContain(
      `3 files (${first}, ${second}, ${third}) would be tried again: add --yes`,
    );
    expect((await retry(...chosen, "--dry-run")).stdout).toContain("3 files");
    expect((await retry(String(first), "--stop", "A110")).exitCode).toBe(2);
    await importPartner(site, "LATEST");
    const { exitCode, output } = await retry(String(first), String(second), "4711");
    expect(exitCode).toBe(1);
    expect(output).toContain("entry 4711 is not tried again: there is no such ledger entry");
    for (const { name } of files.slice(0, 2))
      await waitFor("the file is applied", async () => (await receiptFor(site, name)).status === 10);
    expect((await retry(...chosen, "--yes")).stdout).toContain(`1 file (${third}) is to be tried again.`);
    await waitFor("the last one", async () => (await receiptFor(site, files[2]?.name ?? "")).status === 10);
    expect((await retry(...chosen, "--yes")).exitCode).toBe(1);
  });
});

describe("explain", () => {
  test("an applied file", async () => {
    const file = stopFile("A200");
    await send(site, file);
    const text = await site.mustRun("explain", file.name);
    expect(text).toContain("Applied");
    expect(text).toContain("1 created, 0 updated, 0 deleted");
    expect(text).toContain("over SFTP by user host");
    expect(text).toMatch(/It is kept as it was sent: .*\/archive\//);
  });

  test("a refused file, with the reason and what to do", async () => {
    const file = { name: fileName("A210"), content: "<Stop>" };
    await send(site, file);
    const text = await site.mustRun("explain", file.name);
    expect(text).toContain("950");
    expect(text).toContain("What to do");
    expect(text).not.toContain("file retry");
  });

  test("a waiting file, with what it waits for, whether the daemon runs or not", async () => {
    const cutOff = { name: fileName("A220"), content: String(stopFile("A220").content).slice(0, 150) };
    await writeFile(site.path("inbound", cutOff.name), cutOff.content);
    await site.daemon.waitForLog(({ msg }) => msg.startsWith("a file ends in the middle"));
    expect(await site.mustRun("explain", cutOff.name)).toContain(
      "It does not end with the end tag of its root",
    );
    expect(await site.json("ledger", "verify")).toMatchObject({ discrepancyCount: 0, arriving: 1 });
    await site.stop();
    expect(await site.mustRun("explain", cutOff.name)).toContain("the daemon is not running");
    await site.start();
    await writeFile(site.path("inbound", cutOff.name), stopFile("A220").content);
    expect(await receiptFor(site, cutOff.name)).toMatchObject({ status: 10 });
  });

  test("a stop, and a name that nobody knows", async () => {
    await send(site, stopFile("A230"));
    expect(await site.mustRun("explain", "A230")).toContain("Status 10");
    const unknown = await site.cli("explain", "zzz_20261105_080000.xml");
    expect(unknown.output).toContain("neither the ledger nor any folder knows this name");
  });

  test("an upload under way or broken, and a file that is left alone", async () => {
    await writeLocally(site, [stopFile("A240")]);
    await sftp(site, [`put ${fileName("A240")} inbound/${fileName("A240")}.part`]);
    const text = await site.mustRun("explain", `${fileName("A240")}.part`);
    expect(text).toMatch(/unfinished|not complete/);
  });
});

describe("a further drop folder", () => {
  async function drop(file: StopFile): Promise<void> {
    await writeFile(join(share, file.name), file.content);
  }

  test("its files are taken, applied in order with those of inbound, and filed away in the company's tree", async () => {
    const times = ["100000", "080000", "090000"];
    const files = times.map((time) => stopFile("D100", { time, more: `<SealNbr>${time}</SealNbr>` }));
    // No scan comes in between, and finds a part of them: they settle together.
    site.daemon.process.kill("SIGSTOP");
    for (const { name, content } of files) writeFileSync(join(share, name), content);
    site.daemon.process.kill("SIGCONT");
    for (const { name } of files) expect(await receiptFor(site, name)).toMatchObject({ status: 10 });
    expect(await getStop(site, "D100")).toMatchObject({ sealNbr: "100000" });
    expect(await readdir(share)).toEqual([]);
    expect(await waitingIn(site)).toEqual([]);
    expect((await entriesOf(fileName("D100")))[0]).toMatchObject({ state: "applied", channel: "folder" });
  });

  test("bad files are refused as everywhere; what is no file is left alone and reported", async () => {
    await mkdir(join(share, "d110_20261105_080000.xml"));
    await symlink("/etc/passwd", join(share, fileName("D113")));
    await runProgram("mkfifo", [join(share, fileName("D114"))]);
    await drop({ name: fileName("D111"), content: "<Stop/>" });
    await drop({ name: "readme.txt", content: "<readme/>" });
    await drop({ name: "d112.xml.part", content: "x" });
    expect(codesOf(await receiptFor(site, fileName("D111")))).toEqual(expect.arrayContaining([951]));
    expect(codesOf(await receiptFor(site, "readme.txt"))).toEqual([952]);
    const reports = await waitFor("a report for each", () => {
      const lines = site.daemon.log.filter(({ msg }) => msg === "an entry of a watched folder is left alone");
      return lines.length === 3 && lines;
    });
    expect(reports.map(({ kind }) => kind).sort()).toEqual(["FIFO", "folder", "link"]);
    const left = [fileName("D110"), "d112.xml.part", fileName("D113"), fileName("D114")];
    expect((await readdir(share)).sort()).toEqual(left);
  });

  test("a folder that is added by SIGHUP is watched from then on", async () => {
    const second = join(site.folder, "second");
    await mkdir(second);
    await site.reconfigure({ companies: { [company]: { folders: [{ path: share }, { path: second }] } } });
    site.daemon.process.kill("SIGHUP");
    const file = stopFile("D120");
    await writeFile(join(second, file.name), file.content);
    expect(await receiptFor(site, file.name)).toMatchObject({ status: 10 });
  });
});

test("validate tells what a file would do and changes nothing", async () => {
  const file = stopFile("A300");
  await writeLocally(site, [file, { name: fileName("A301"), content: "<Stop/>" }]);
  const fine = await site.cli("validate", join(site.client, file.name));
  expect(fine.exitCode, fine.output).toBe(0);
  const bad = await site.cli("validate", join(site.client, fileName("A301")));
  expect(bad.exitCode).toBe(1);
  expect(bad.output).toContain("951");
  expect(await getStop(site, "A300")).toBeUndefined();
});

describe("ledger verify", () => {
  test("is clean after all of this", async () => {
    const report = await site.json<{ discrepancies: unknown[] }>("ledger", "verify");
    expect(report.discrepancies).toEqual([]);
  });

  test("leaves what lies in inbound to the next start while the daemon is down, and that takes it", async () => {
    await site.stop();
    const names = [fileName("A350"), fileName("A351")];
    for (const [index, name] of names.entries())
      await writeFile(site.path("inbound", name), stopFile(`A35${index}`).content);
    await writeFile(site.path("inbound", "d10.xml.tmp"), "half");
    const text = await site.mustRun("ledger", "verify");
    expect(text).toContain("2 files that the next start takes: no daemon runs");
    expect(text).toContain("The ledger is correct: ");
    const report = await site.json<Record<string, unknown>>("ledger", "verify");
    expect(report).toMatchObject({ atNextStart: 2, arriving: 0, discrepancyCount: 0 });
    await site.start();
    for (const name of names) expect(await receiptFor(site, name)).toMatchObject({ status: 10 });
    const told = await site.mustRun("explain", "d10.xml.tmp");
    expect(told.split("d10.xml.tmp, company")).toHaveLength(2);
    expect(told).toContain("Its name says that it is unfinished");
    await rm(site.path("inbound", "d10.xml.tmp"));
  });

  test("is clean after the daemon was killed in a burst of uploads", async () => {
    const files = Array.from({ length: 300 }, (_, index) => stopFile(`K${index}`));
    const sent = put(site, ...files).catch(() => undefined);
    await waitFor("some have come", () => existsSync(site.path("receipts", receiptName(fileName("K5")))));
    await site.kill();
    await sent;
    const report = await site.json<{ discrepancies: unknown[]; atNextStart: number }>("ledger", "verify");
    expect(report.discrepancies).toEqual([]);
    console.log(`killed in a burst: ${report.atNextStart} files left to the next start`);
    await site.start();
    await waitFor("all of them are taken", async () => (await waitingIn(site)).length === 0);
    expect((await site.json<{ discrepancyCount: number }>("ledger", "verify")).discrepancyCount).toBe(0);
  });

  test("finds a file that was changed, one that is gone and one that nobody knows", async () => {
    const [changed, gone] = [stopFile("A400"), stopFile("A401")];
    await send(site, changed);
    await send(site, gone);
    const folder = site.path("archive", (await readdir(site.path("archive")))[0] ?? "");
    await writeFile(join(folder, changed.name), "<Stop/>");
    await rename(join(folder, gone.name), join(folder, "stray_20261105_080000.xml"));
    expect(existsSync(site.path("receipts", receiptName(gone.name)))).toBe(true);
    const result = await site.cli("ledger", "verify");
    expect(result.exitCode).toBe(1);
    for (const name of [changed.name, gone.name, "stray_20261105_080000.xml"])
      expect(result.output).toContain(name);
  });
});
