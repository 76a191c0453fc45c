/** The clients that hosts use, uploads that break off, temporary names, and attempts to leave the company's tree. */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat, symlink, unlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectApplied } from "../support/applied-files.ts";
import { curl, curlSftp, getStop, lftp, scp, sftp } from "../support/clients.ts";
import { Site } from "../support/daemon.ts";
import { isInstalled } from "../support/run-program.ts";
import {
  fileName,
  filedIn,
  receiptName,
  type StopFile,
  send,
  stopFile,
  waitingIn,
  writeLocally,
} from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make();
  await site.start();
});
afterAll(() => site.end());

/** Whether the ledger has ever heard of a file whose name begins so. */
async function isInLedger(prefix: string): Promise<boolean> {
  const entries = await site.json<{ name: string }[]>("files");
  return entries.some(({ name }) => name.startsWith(prefix));
}

describe("other clients than sftp", () => {
  test("scp puts several files and gets a receipt", async () => {
    const files = [stopFile("C100"), stopFile("C101")];
    await writeLocally(site, files);
    const up = await scp(site, [...files.map(({ name }) => name), ":/inbound/"]);
    expect(up.exitCode, up.output).toBe(0);
    for (const file of files) await expectApplied(site, file);
    const down = await scp(site, [`:/receipts/${receiptName(fileName("C100"))}`, "receipt.xml"]);
    expect(down.exitCode, down.output).toBe(0);
    expect(await readFile(join(site.client, "receipt.xml"), "utf8")).toContain("<Status>10</Status>");
  });

  test.skipIf(!isInstalled("lftp"))("lftp puts, with and without a temporary name of its own", async () => {
    const files = [stopFile("C110"), stopFile("C111")];
    await writeLocally(site, files);
    const [plain, temporary] = files.map(({ name }) => `put -O /inbound ${name}`);
    const result = await lftp(site, [`${plain}`, "set xfer:use-temp-file yes", `${temporary}`, "cls /"]);
    expect(result.exitCode, result.output).toBe(0);
    for (const file of files) await expectApplied(site, file);
  });

  test.skipIf(!isInstalled("curl"))(
    "curl puts under the final name, and under another that it renames",
    async () => {
      const [direct, renamed] = [stopFile("C120"), stopFile("C121")];
      await writeLocally(site, [direct, renamed]);
      const base = `sftp://127.0.0.1:${site.sftpPort}/inbound/`;
      const first = await curl(site, [...curlSftp(site), "-T", direct.name, base]);
      expect(first.exitCode, first.output).toBe(0);
      const part = `/inbound/${renamed.name}.part`;
      const rename = `-rename ${part} /inbound/${renamed.name}`;
      const second = await curl(site, [
        ...curlSftp(site),
        "-T",
        renamed.name,
        "-Q",
        rename,
        `${base}${renamed.name}.part`,
      ]);
      expect(second.exitCode, second.output).toBe(0);
      for (const file of [direct, renamed]) await expectApplied(site, file);
    },
  );
});

describe("temporary names", () => {
  test("WinSCP's way, .filepart and then a rename, becomes a file at the rename", async () => {
    const file = stopFile("C200");
    await writeLocally(site, [file]);
    const part = `inbound/${file.name}.filepart`;
    const put = await sftp(site, [`put ${file.name} ${part}`, `ls -l ${part}`]);
    expect(put.exitCode, put.output).toBe(0);
    await send(site, stopFile("C201"));
    expect(await getStop(site, "C200")).toBeUndefined();
    const rename = await sftp(site, [`rename ${part} inbound/${file.name}`, "ls inbound"]);
    expect(rename.exitCode, rename.output).toBe(0);
    await expectApplied(site, file);
  });

  test("unfinished names are left alone, seen by their owner alone, and removed by him", async () => {
    const file = stopFile("C210");
    await writeLocally(site, [file]);
    const names = [
      ".c210",
      "c210.part",
      "c210.tmp",
      "c210.xml.writing",
      "c210.uploading",
      "c210.crdownload",
      "c210~",
    ];
    const put = await sftp(site, [
      ...names.map((name) => `put ${file.name} inbound/${name}`),
      "ls -a inbound",
    ]);
    expect(put.exitCode, put.output).toBe(0);
    for (const name of names) expect(put.output.split("ls -a inbound")[1]).toContain(name);
    await site.addUser("other", ["DI_Integration"]);
    const look = await sftp(site, ["ls -a inbound"], { userName: "other", password: site.password });
    expect(look.exitCode, look.output).toBe(0);
    expect(look.output).not.toContain("c210");
    await send(site, stopFile("C211"));
    const remove = await sftp(
      site,
      names.map((name) => `rm inbound/${name}`),
    );
    expect(remove.exitCode, remove.output).toBe(0);
    expect(await isInLedger("c210")).toBe(false);
    expect(await isInLedger(".c210")).toBe(false);
  });
});

describe("an upload that breaks off", () => {
  /** Big enough to be caught in the middle, and no two parts of it alike. */
  function bigFile(stopNbr: string): StopFile {
    const filling = `<!-- ${randomBytes(900_000).toString("base64")} -->`;
    return stopFile(stopNbr, { more: filling });
  }

  async function partOf(name: string): Promise<number> {
    const folder = site.path("inbound", ".partial");
    const path = (await readdir(folder, { recursive: true })).find((each) => each.endsWith(name));
    return path === undefined ? 0 : (await stat(join(folder, path))).size;
  }

  function endGroup(child: ChildProcess): void {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }

  function endProgram(child: ChildProcess): void {
    child.kill("SIGKILL");
  }

  /** Starts a slow put and ends the client by force in the middle of it. */
  async function breakUpload(file: StopFile, end: (child: ChildProcess) => void): Promise<void> {
    await writeLocally(site, [file]);
    const children: ChildProcess[] = [];
    const run = { detached: true, onStart: (child: ChildProcess) => void children.push(child) };
    const put = sftp(site, [`put ${file.name} inbound/${file.name}`], { more: ["-l", "6000"], run });
    await waitFor("a part of the upload", async () => (await partOf(file.name)) > 50_000);
    for (const child of children) end(child);
    expect((await put).exitCode).not.toBe(0);
    await site.daemon.waitForLog(
      (line) => line.msg === "upload interrupted" && String(line["file"]).includes(file.name),
    );
    expect(await partOf(file.name)).toBeLessThan(String(file.content).length);
  }

  async function expectNoFile(file: StopFile): Promise<void> {
    await send(site, stopFile(`N${file.name.slice(0, 4)}`));
    expect(await waitingIn(site)).toEqual([]);
    expect(existsSync(site.path("receipts", receiptName(file.name)))).toBe(false);
    expect(await isInLedger(file.name)).toBe(false);
  }

  test.each([
    ["with its connection", "C300", endGroup],
    ["while its connection closes in order", "C301", endProgram],
  ] as const)("killed %s, never becomes a file and is continued by reput", async (_how, stopNbr, end) => {
    const file = bigFile(stopNbr);
    await breakUpload(file, end);
    await expectNoFile(file);
    const again = await sftp(site, [`reput ${file.name} inbound/${file.name}`]);
    expect(again.exitCode, again.output).toBe(0);
    await expectApplied(site, file);
  });

  test.skipIf(!isInstalled("lftp"))("is continued by lftp's put -c", async () => {
    const file = bigFile("C310");
    await breakUpload(file, endGroup);
    const again = await lftp(site, [`put -c -O /inbound ${file.name}`]);
    expect(again.exitCode, again.output).toBe(0);
    await expectApplied(site, file);
  });

  test("outlives a restart of the daemon, and may be begun anew instead", async () => {
    const [continued, anew] = [bigFile("C320"), bigFile("C321")];
    await breakUpload(continued, endGroup);
    await breakUpload(anew, endGroup);
    await site.stop();
    await site.start();
    const list = await sftp(site, ["ls -a inbound"]);
    expect(list.output).toContain(`.${continued.name}.partial`);
    const again = await sftp(site, [
      `reput ${continued.name} inbound/${continued.name}`,
      `put ${anew.name} inbound/${anew.name}`,
      "ls -a inbound",
    ]);
    expect(again.exitCode, again.output).toBe(0);
    for (const file of [continued, anew]) await expectApplied(site, file);
    expect(again.output.split("ls -a inbound")[1]).not.toContain(".partial");
  });
});

describe("attempts to leave the tree", () => {
  const folders = ["inbound", "outbound", "receipts", "archive", "error"];
  const stolen = ["s1", "s2", "s3", "s4", "s5", "s6", "s7"];

  test("no path leads out: not up, not absolute, not through a link", async () => {
    const link = site.path("receipts", "link.receipt.xml");
    await symlink("/etc/passwd", link);
    const folderLink = site.path("archive", "2026-01-01");
    await symlink("/etc", folderLink);
    const result = await sftp(site, [
      "-get /etc/passwd s1",
      "-get ../../../../../../etc/passwd s2",
      "-get inbound/../../../../../../../etc/passwd s3",
      "-get ../../dropgate.db s4",
      "-get receipts/link.receipt.xml s5",
      "-get archive/2026-01-01/passwd s6",
      "-get ../ACME/../../keys/ssh_host_ed25519_key s7",
      "-ls -a /etc",
      "-ls -a ..",
      "-ls -a ../../..",
      "-ls archive/2026-01-01",
    ]);
    await unlink(link);
    await unlink(folderLink);
    expect(result.exitCode, result.output).toBe(0);
    for (const name of stolen)
      expect(existsSync(join(site.client, name)), `${name}: ${result.output}`).toBe(false);
    // The client repeats what it was told, and names that it was refused.
    const told = result.output.split("\n").filter((line) => !/^sftp> |not found/.test(line));
    expect(
      told
        .join(" ")
        .match(/[a-z]+/g)
        ?.filter((word) => !folders.includes(word)),
    ).toEqual([]);
  });

  test("no links are made, and nothing is written, made, changed or removed but where a host may", async () => {
    const applied = stopFile("C400");
    await send(site, applied);
    const before = (await readdir(site.path(), { recursive: true })).sort();
    await writeLocally(site, [stopFile("C401")]);
    const put = `-put ${fileName("C401")}`;
    const attempts = [
      `-symlink /etc/passwd inbound/${fileName("C402")}`,
      `-ln /etc/passwd inbound/${fileName("C403")}`,
      `-ln -s ../../keys inbound/keys`,
      `${put} /${fileName("C401")}`,
      `${put} ../${fileName("C401")}`,
      `${put} /tmp/${fileName("C401")}`,
      `${put} inbound/../../${fileName("C401")}`,
      `${put} archive/${fileName("C401")}`,
      `${put} receipts/${fileName("C401")}`,
      `${put} error/${fileName("C401")}`,
      `${put} inbound/.partial/${fileName("C401")}`,
      `${put} inbound/.again/${fileName("C401")}`,
      "-mkdir inbound/folder",
      "-mkdir /folder",
      "-rmdir archive",
      `-rm archive/*/${applied.name}`,
      `-rename receipts/${receiptName(applied.name)} inbound/${fileName("C404")}`,
      `-rename receipts/${receiptName(applied.name)} ../../stolen`,
      `-chmod 777 archive/*/${applied.name}`,
      "-chown 0 receipts",
    ];
    const result = await sftp(site, attempts);
    expect(result.exitCode, result.output).toBe(0);
    expect((await readdir(site.path(), { recursive: true })).sort()).toEqual(before);
    expect(existsSync(join("/tmp", fileName("C401")))).toBe(false);
    expect(await filedIn(site, "archive")).toContain(applied.name);
    expect(result.output).not.toContain(site.stateDir);
  });

  test("our dot-folders are not shown and cannot be looked into", async () => {
    const list = await sftp(site, ["ls -a inbound"]);
    expect(list.output).not.toMatch(/\.partial|\.again|\.taking/);
    for (const folder of [".partial", ".again", ".partial/1"]) {
      const result = await sftp(site, [`ls -a inbound/${folder}`]);
      expect(result.exitCode, `${folder}: ${result.output}`).not.toBe(0);
    }
  });
});

test("after all of this the accounting is right and no secret was logged", async () => {
  const report = await site.json<{ discrepancies: unknown[] }>("ledger", "verify");
  expect(report.discrepancies).toEqual([]);
  site.assertNoSecrets();
});
