/** FTP: the exchange of files is that of SFTP. Names, rights, order, receipts, bans and many clients at once, with curl and lftp. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, symlink, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { forgetFailedSignIns } from "../support/site-database.ts";
import { getStop, sftp } from "../support/clients.ts";
import { Site } from "../support/daemon.ts";
import {
  type CertificateFiles,
  curlFtp,
  ftpSettings,
  lftpFtp,
  makeCertificateFiles,
  withBasicFtp,
} from "../support/ftp-clients.ts";
import { isInstalled, type ProgramResult } from "../support/run-program.ts";
import {
  codesOf,
  deletionFile,
  fileName,
  filedIn,
  parseReceipt,
  receiptBeside,
  receiptFor,
  receiptName,
  type StopFile,
  stopFile,
  waitingIn,
  writeLocally,
} from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

const hasClients = isInstalled("curl") && isInstalled("lftp");
const sealed = (seal: string) => `<SealNbr>${seal}</SealNbr>`;

let certificate: CertificateFiles;
let site: Site;

beforeAll(async () => {
  certificate = makeCertificateFiles();
  site = await Site.make({ ftp: ftpSettings(certificate), security: { wrongPasswordDelayMs: 100 } });
  await site.start();
});
afterAll(async () => {
  await site.end();
  certificate.remove();
});

const explicit = () => ({ certFile: certificate.certFile, mode: "explicit" as const });

function expectDone({ exitCode, output }: ProgramResult): void {
  expect(exitCode, output).toBe(0);
}

async function put(...files: readonly StopFile[]): Promise<void> {
  await writeLocally(site, files);
  expectDone(
    await lftpFtp(
      site,
      files.map(({ name }) => `put -O /inbound "${name}"`),
      explicit(),
    ),
  );
}

/** Puts one file and gives its receipt; that of an earlier one of its name is removed before. */
async function send(file: StopFile) {
  await withBasicFtp(site, { cert: certificate.cert, mode: "explicit" }, (client) =>
    client.sendIgnoringError(`DELE /receipts/${receiptName(file.name)}`),
  );
  await put(file);
  return await receiptFor(site, file.name);
}

interface Entry {
  readonly name: string;
  readonly state: string;
  readonly channel: string;
  readonly removedBy: string | null;
}

const ledger = () => site.json<readonly Entry[]>("files", "--limit", "5000");

/** The replies to these commands, in one session. */
async function repliesTo(commands: readonly string[]): Promise<readonly string[]> {
  return await withBasicFtp(site, { cert: certificate.cert, mode: "explicit" }, async (client) => {
    const replies: string[] = [];
    for (const command of commands) {
      const verb = command.split(" ", 1)[0] ?? "";
      if (/^(STOR|RETR|LIST|NLST|MLSD|APPE)$/.test(verb)) await client.send("EPSV");
      replies.push((await client.sendIgnoringError(command)).message);
    }
    return replies;
  });
}

describe.skipIf(!hasClients)("names and rights", () => {
  test("unfinished names are left alone, seen by their owner alone, and removed by him", async () => {
    const file = stopFile("X210");
    await writeLocally(site, [file]);
    const endings = [
      "x210.part",
      "x210.tmp",
      "x210.xml.writing",
      "x210.uploading",
      "x210.crdownload",
      "x210~",
    ];
    const names = [".x210", ...endings];
    const puts = names.map((name) => `put ${file.name} -o /inbound/${name}`);
    const mine = await lftpFtp(site, [...puts, "ls /inbound"], explicit());
    expectDone(mine);
    for (const name of names) expect(mine.stdout).toContain(name);
    await site.addUser("other", ["DI_Integration"]);
    const others = await lftpFtp(site, ["ls /inbound"], { ...explicit(), userName: "other" });
    expectDone(others);
    expect(others.stdout).not.toContain("x210");
    await send(stopFile("X211"));
    expectDone(
      await lftpFtp(
        site,
        names.map((name) => `rm /inbound/${name}`),
        explicit(),
      ),
    );
    expect((await ledger()).filter(({ name }) => name.includes("x210"))).toEqual([]);
  });

  test("no path leads out: not up, not absolute, not through a link", async () => {
    const link = site.path("receipts", "link.receipt.xml");
    const folderLink = site.path("archive", "2026-01-01");
    await symlink("/etc/passwd", link);
    await symlink("/etc", folderLink);
    const commands = [
      ...["/etc/passwd", "../../../../etc/passwd", "inbound/../../../../../etc/passwd", "../../dropgate.db"],
      ...[
        "receipts/link.receipt.xml",
        "archive/2026-01-01/passwd",
        "../ACME/../../keys/ssh_host_ed25519_key",
      ],
    ].flatMap((path) => [`RETR ${path}`, `SIZE ${path}`, `MDTM ${path}`, `MLST ${path}`]);
    const lists = [
      "LIST /etc",
      "MLSD ../../../etc",
      "NLST archive/2026-01-01",
      "CWD /etc",
      "CWD archive/2026-01-01",
    ];
    const replies = await repliesTo([...commands, ...lists]);
    await unlink(link);
    await unlink(folderLink);
    for (const [at, reply] of replies.entries()) expect(reply, [...commands, ...lists][at]).toMatch(/^550 /);
    expect(replies.join("\n")).not.toContain(site.stateDir);
    const up = await lftpFtp(site, ["cd ..", "cd ../..", "cls -1"], explicit());
    expect(up.stdout.split("\n").filter((line) => line !== "")).toEqual([
      ...["archive/", "error/", "inbound/", "outbound/", "receipts/"],
    ]);
  });

  test("nothing is written, made, changed or removed but where a host may", async () => {
    const applied = stopFile("X400");
    await send(applied);
    const day = (await readdir(site.path("archive"))).at(-1) ?? "";
    const before = (await readdir(site.path(), { recursive: true })).sort();
    const name = fileName("X401");
    const places = ["/", "../", "/tmp/", "inbound/../../", "archive/", "receipts/", "error/", "outbound/"];
    const own = ["inbound/.partial/", "inbound/.again/", "inbound/.fetching/", "inbound/deep/"];
    const commands = [
      ...[...places, ...own].flatMap((place) => [`STOR ${place}${name}`, `APPE ${place}${name}`]),
      ...[
        "MKD inbound/folder",
        "MKD /folder",
        "RMD archive",
        "RMD /inbound",
        "STOU",
        "SITE CHMOD 777 inbound",
      ],
      `DELE archive/${day}/${applied.name}`,
      `RNFR archive/${day}/${applied.name}`,
      `RNTO inbound/${name}`,
      `RNFR receipts/${receiptName(applied.name)}`,
      "RNTO ../../stolen",
      `RNFR receipts/${receiptName(applied.name)}`,
      `RNTO inbound/${name}`,
    ];
    const replies = await repliesTo(commands);
    for (const [at, reply] of replies.entries()) {
      const command = commands[at] ?? "";
      expect(reply, command).toMatch(command.startsWith("RNFR") ? /^(350|550) / : /^5\d\d /);
    }
    expect((await readdir(site.path(), { recursive: true })).sort()).toEqual(before);
    expect(existsSync(join("/tmp", name))).toBe(false);
    expect(replies.join("\n")).not.toContain(site.stateDir);
  });

  test("our dot-folders are not shown and cannot be looked into", async () => {
    const list = await lftpFtp(site, ["ls -a /inbound", "nlist /inbound"], explicit());
    expect(list.output).not.toMatch(/\.partial\b|\.again|\.fetching|\.taking/);
    const folders = ["inbound/.partial", "inbound/.again", "inbound/.partial/1"];
    for (const reply of await repliesTo(folders.flatMap((path) => [`LIST ${path}`, `CWD ${path}`])))
      expect(reply).toMatch(/^550 /);
  });
});

describe.skipIf(!hasClients)("order and once", () => {
  test("thirty changes of one stop in one session end with the newest, whatever their order on the way", async () => {
    const times = Array.from(
      { length: 30 },
      (_, index) => `08${String((index * 7) % 30).padStart(2, "0")}00`,
    );
    const files = times.map((time) => stopFile("X120", { time, more: sealed(time) }));
    await put(...files);
    const receipts = await Promise.all(files.map(({ name }) => receiptFor(site, name)));
    for (const receipt of receipts) expect(receipt.status === 10 || codesOf(receipt)[0] === 954).toBe(true);
    expect(await getStop(site, "X120")).toMatchObject({ sealNbr: "082900" });
  });

  test("the same name with other content is refused after it was applied, and processed after it was refused", async () => {
    await send(stopFile("X130", { more: sealed("ONE") }));
    expect(codesOf(await send(stopFile("X130", { more: sealed("TWO") })))).toEqual([955]);
    expect(await getStop(site, "X130")).toMatchObject({ sealNbr: "ONE" });
    const broken = { name: fileName("X131"), content: "<Stop>" };
    const first = await send(broken);
    expect(codesOf(first)).toEqual([950]);
    expect(await send(broken)).toEqual(first);
    expect(await send(stopFile("X131"))).toMatchObject({ status: 10, records: [1, 0, 0] });
  });

  test("a stop is created, deleted, and made anew under a new time", async () => {
    await send(stopFile("X140", { time: "080000" }));
    expect(await send(deletionFile("X140", "090000"))).toMatchObject({ status: 10, records: [0, 0, 1] });
    expect(await send(stopFile("X140", { time: "100000" }))).toMatchObject({
      status: 10,
      records: [1, 0, 0],
    });
    expect(await getStop(site, "X140")).toMatchObject({ stopStatus: "10" });
  });

  test("a bad file does not hold up the others; the host reads why in error/ and removes it, and the ledger keeps that", async () => {
    const bad = { name: fileName("X150"), content: "<Stop>" };
    const good = [stopFile("X151", { time: "070000" }), stopFile("X152", { time: "090000" })];
    await put(bad, ...good);
    for (const { name } of good) expect(await receiptFor(site, name)).toMatchObject({ status: 10 });
    await receiptBeside(site, bad.name);
    const commands = ["mget /error/*/x150_*.receipt.xml", `glob -a rm /error/*/${bad.name}`];
    expectDone(await lftpFtp(site, commands, explicit()));
    const receipt = await readFile(join(site.client, receiptName(bad.name)), "utf8");
    expect(codesOf(parseReceipt(receipt))).toEqual([950]);
    expect(await filedIn(site, "error")).not.toContain(bad.name);
    expect((await ledger()).find(({ name }) => name === bad.name)).toMatchObject({ removedBy: "host" });
  });

  test("of one name over SFTP and FTP at once one upload is refused or both are taken, and the stop is there once", async () => {
    const filling = `<!-- ${randomBytes(400_000).toString("base64")} -->`;
    const files = Array.from({ length: 6 }, (_, index) => stopFile(`X16${index}`, { more: filling }));
    await writeLocally(site, files);
    const both = files.flatMap(({ name }) => [
      curlFtp(site, "/inbound/", ["-T", name], explicit()),
      sftp(site, [`put ${name} inbound/${name}`]),
    ]);
    const results = await Promise.all(both);
    for (const [at, { name }] of files.entries()) {
      const pair = results.slice(2 * at, 2 * at + 2);
      expect(
        pair.some(({ exitCode }) => exitCode === 0),
        pair.map(({ output }) => output).join("\n"),
      ).toBe(true);
      expect(await receiptFor(site, name)).toMatchObject({ status: 10 });
    }
    await waitFor("all decided", async () => (await ledger()).every(({ state }) => state !== "waiting"));
    for (const { name } of files) {
      const states = (await ledger()).filter((entry) => entry.name === name).map(({ state }) => state);
      expect(
        states.filter((state) => state === "applied"),
        name,
      ).toHaveLength(1);
      expect(states.filter((state) => state !== "applied" && state !== "duplicate")).toEqual([]);
    }
  });
});

describe.skipIf(!hasClients)("many clients, long ones and restarts", () => {
  test("50 clients at once put 5 files each, and every file is applied exactly once", async () => {
    const plans = Array.from({ length: 50 }, (_, client) =>
      Array.from({ length: 5 }, (_unused, file) => stopFile(`XM${client}-${file}`)),
    );
    await writeLocally(site, plans.flat());
    const puts = plans.map((files) => {
      const names = files.map(({ name }) => name).join(",");
      return curlFtp(site, "/inbound/", ["-T", `{${names}}`], explicit());
    });
    for (const result of await Promise.all(puts)) expectDone(result);
    for (const { name } of plans.flat())
      expect(await receiptFor(site, name)).toMatchObject({ status: 10, records: [1, 0, 0] });
    const entries = (await ledger()).filter(({ name }) => name.startsWith("xm"));
    expect(entries).toHaveLength(250);
    expect(new Set(entries.map(({ channel }) => channel))).toEqual(new Set(["ftp"]));
  });

  test("a part outlives a restart of the daemon: it is continued, or begun anew", async () => {
    const filling = () => `<!-- ${randomBytes(600_000).toString("base64")} -->`;
    const files = [stopFile("X320", { more: filling() }), stopFile("X321", { more: filling() })];
    const [continued, anew] = files.map(({ name }) => name);
    await writeLocally(site, files);
    const children: ChildProcess[] = [];
    const run = { onStart: (child: ChildProcess) => void children.push(child) };
    const puts = files.map(({ name }) =>
      curlFtp(site, "/inbound/", ["--limit-rate", "200k", "-T", name], { ...explicit(), run }),
    );
    const parts = async () =>
      (await readdir(site.path("inbound", ".partial"), { recursive: true })).filter((each) =>
        /x32[01]/.test(each),
      );
    await waitFor("both parts", async () => (await parts()).length === 2);
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(puts);
    await waitFor(
      "both broken off",
      () => site.daemon.log.filter(({ msg }) => msg === "upload interrupted").length >= 2,
    );
    await site.stop();
    await site.start();
    const list = await lftpFtp(site, ["ls /inbound"], explicit());
    expect(list.stdout).toContain(`.${continued}.partial`);
    expectDone(await curlFtp(site, "/inbound/", ["-C", "-", "-T", continued ?? ""], explicit()));
    expectDone(await curlFtp(site, "/inbound/", ["-T", anew ?? ""], explicit()));
    for (const { name } of files)
      expect(await receiptFor(site, name)).toMatchObject({ status: 10, records: [1, 0, 0] });
    expect(await parts()).toEqual([]);
  });

  test("an idle client does not hold up the stop, and is told", async () => {
    // So long that a stop that waits for the client cannot be taken for one that a slow machine makes.
    await site.reconfigure({ shutdown: { drainMs: 170_000 } });
    await site.stop();
    await site.start();
    await withBasicFtp(site, { cert: certificate.cert, mode: "explicit" }, async (client) => {
      const began = performance.now();
      await site.stop();
      expect(performance.now() - began).toBeLessThan(100_000);
      await expect(client.pwd()).rejects.toThrow(/421|closed/i);
    });
    await site.start();
  });
});

describe.skipIf(!hasClients)("users", () => {
  test("a change of a user takes effect at once: disabled, enabled, another password", async () => {
    await site.addUser("shift", ["DI_Integration"]);
    const look = async (password = site.password) =>
      (await curlFtp(site, "/", [], { ...explicit(), userName: "shift", password })).exitCode;
    expect(await look()).toBe(0);
    await site.mustRun("user", "disable", "shift");
    expect(await look()).toBe(67);
    await site.mustRun("user", "enable", "shift");
    expect(await look()).toBe(0);
  });

  test("a user without the role for files is let in nowhere", async () => {
    await site.addUser("viewer", ["DI_Inquiry"]);
    const result = await curlFtp(site, "/", ["-v"], { ...explicit(), userName: "viewer" });
    expect(result.exitCode).toBe(67);
    expect(result.output).toMatch(/< 530 /);
  });

  test("wrong passwords over FTP and SFTP count together, and a ban closes both", async () => {
    await site.reconfigure({ security: { wrongPasswordDelayMs: 100, bans: { maxScore: 3, banMs: 60_000 } } });
    await site.stop();
    forgetFailedSignIns(site);
    await site.start();
    expect((await curlFtp(site, "/", [], { ...explicit(), password: "wrong-1" })).exitCode).toBe(67);
    expect((await sftp(site, ["pwd"], { password: "wrong-2" })).exitCode).not.toBe(0);
    expect((await curlFtp(site, "/", [], explicit())).exitCode).toBe(0);
    await sftp(site, ["pwd"], { password: "wrong-3" });
    expect((await curlFtp(site, "/", [], explicit())).exitCode).not.toBe(0);
    expect((await sftp(site, ["pwd"])).exitCode).not.toBe(0);
  });
});

test("after all of this nothing waits, the accounting is right and no secret was logged", async () => {
  expect(await waitingIn(site)).toEqual([]);
  const report = await site.json<{ discrepancies: unknown[] }>("ledger", "verify");
  expect(report.discrepancies).toEqual([]);
  site.assertNoSecrets();
});
