/** Backups of the real program: taken beside a working daemon and without one, verified, restored; what follows a restore. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { http } from "../support/clients.ts";
import { company, oneParser, program, Site } from "../support/daemon.ts";
import { importLoads, outcome, post } from "../support/gateway-client.ts";
import { type Post, type Receiver, reply, startReceiver } from "../support/receiver.ts";
import { runProgram } from "../support/run-program.ts";
import { put, receiptFor, send, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
// A backup by dropgate copies the file of SQLite; a server has tools of its own.
import { itOnSqlite as test } from "../support/store-dialect.ts";

interface Backup {
  readonly folder: string;
  readonly files: number;
  readonly shared: number;
  readonly base: string | null;
  readonly ledgerEntries: number;
  readonly discrepancies: readonly string[];
  readonly begunAt: string;
  readonly lastReceivedAt: string | null;
}

let site: Site;
let backups: string;

beforeEach(async () => {
  site = await Site.make({ inbound: oneParser });
  backups = await mkdtemp(join(tmpdir(), "dropgate-backups-"));
});
afterEach(async () => {
  await site.end();
  await rm(backups, { recursive: true, force: true });
});

function backUp(...options: readonly string[]): Promise<Backup> {
  return site.json<Backup>("backup", backups, ...options);
}

/** Restores the newest backup in place of the state of the site; both are of the same configuration. */
async function restoreInPlace(): Promise<string> {
  await rm(site.stateDir, { recursive: true });
  return await site.mustRun("restore", backups, "--to", site.stateDir);
}

async function namesOfLedger(): Promise<string[]> {
  return (await site.json<{ name: string }[]>("files", "--limit", "1000")).map(({ name }) => name).sort();
}

async function readiness(): Promise<{ status: number; messages: string }> {
  const answer = await fetch(`${site.http}/readyz`);
  const { messages = [] } = (await answer.json()) as { messages?: readonly string[] };
  return { status: answer.status, messages: messages.join("\n") };
}

describe("a backup", () => {
  test("beside a working daemon has all that was answered before it began, and a restore of it goes on", async () => {
    await site.start();
    const before = Array.from({ length: 40 }, (_, index) => stopFile(`B${index}`));
    await put(site, ...before);
    const sending = put(site, ...Array.from({ length: 80 }, (_, index) => stopFile(`C${index}`)));
    const made = await backUp();
    await sending;
    expect(made.discrepancies).toEqual([]);
    const verified = await site.mustRun("backup", backups, "--verify");
    expect(verified).toContain(`Backup ${made.folder} is whole`);
    for (const { name } of before) await receiptFor(site, name);
    await site.stop();
    const restored = await restoreInPlace();
    expect(restored).toContain(`hosts have to send again what they sent since ${made.begunAt}`);
    await site.start();
    await waitFor("the files that had been answered", async () => {
      const names = new Set(await namesOfLedger());
      return before.every(({ name }) => names.has(name)) || undefined;
    });
    for (const { name } of before) expect(await receiptFor(site, name)).toMatchObject({ status: 10 });
    expect(await send(site, stopFile("D1"))).toMatchObject({ status: 10, records: [1, 0, 0] });
    // What is sent again is known, or applied now: never twice.
    await put(site, ...before);
    await waitFor("all files to be decided", async () => {
      const waiting = await site.json<unknown[]>("files", "--state", "waiting");
      return waiting.length === 0 || undefined;
    });
    const applied = await site.json<{ name: string }[]>("files", "--state", "applied", "--limit", "1000");
    const names = applied.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(await site.mustRun("ledger", "verify")).toContain("The ledger is correct");
  });

  test("is made without a daemon too, has the configuration, and is checked by sha256sum", async () => {
    const made = await backUp();
    expect(made.files).toBeGreaterThan(2);
    const configuration = await readFile(join(made.folder, "configuration", "dropgate.yaml"), "utf8");
    expect(configuration).toBe(await readFile(site.configFile, "utf8"));
    const summed = await runProgram("sha256sum", ["--quiet", "-c", "files.sha256"], { cwd: made.folder });
    expect([summed.exitCode, summed.output]).toEqual([0, ""]);
  });

  test("that is incremental shares what has not changed, and stands by itself when the one before is gone", async () => {
    await site.start();
    await send(site, stopFile("I1"));
    const first = await backUp("--incremental");
    expect(first.base).toBeNull();
    await send(site, stopFile("I2"));
    const second = await backUp("--incremental");
    expect(second.base).toBe(first.folder.slice(backups.length + 1));
    expect(second.shared).toBeGreaterThan(0);
    const applied = await site.json<{ location: string }[]>("files", "--name", "i1_*");
    const place = applied[0]?.location.slice(site.stateDir.length) ?? "";
    const inode = (folder: string) => statSync(join(folder, "state", place)).ino;
    expect(inode(second.folder)).toBe(inode(first.folder));
    await site.stop();
    await rm(first.folder, { recursive: true });
    expect(await site.mustRun("backup", backups, "--verify")).toContain("is whole");
    await restoreInPlace();
    expect(await namesOfLedger()).toEqual([stopFile("I1").name, stopFile("I2").name]);
  });

  test("says what ledger and files of the state disagree about, and is kept", async () => {
    await site.start();
    await send(site, stopFile("M1"));
    const [file] = await site.json<{ location: string }[]>("files");
    await rm(file?.location ?? "");
    const made = await site.cli("backup", backups);
    expect(made.exitCode, made.output).toBe(1);
    expect(made.output).toMatch(/m1_20261105_080000\.xml: the bytes are not there/);
    expect((await site.cli("backup", backups, "--verify")).exitCode).toBe(0);
  });

  test("is refused while another one is being made", async () => {
    const first = site.cli("backup", backups);
    const second = site.cli("backup", backups);
    const results = await Promise.all([first, second]);
    const refused = results.filter(({ exitCode }) => exitCode !== 0);
    // Either one after the other, or one is told.
    for (const { output } of refused) expect(output).toContain("another backup of");
    expect(refused.length).toBeLessThan(2);
    expect(await site.mustRun("backup", backups, "--verify")).toContain("is whole");
  });

  test("that was changed is told by --verify, and not restored", async () => {
    await site.start();
    await send(site, stopFile("V1"));
    const made = await backUp();
    const [name = ""] = await readdir(join(made.folder, "state", "keys"));
    await appendFile(join(made.folder, "state", "keys", name), "x");
    const verified = await site.cli("backup", backups, "--verify");
    expect([verified.exitCode, verified.output]).toEqual([
      1,
      expect.stringContaining(`state/keys/${name}: the bytes are not those that were backed up`),
    ]);
    const elsewhere = join(site.folder, "elsewhere");
    const restored = await site.cli("restore", backups, "--to", elsewhere);
    expect([restored.exitCode, restored.output]).toEqual([
      1,
      expect.stringContaining("is damaged in the backup"),
    ]);
    expect(existsSync(join(elsewhere, "dropgate.db"))).toBe(false);
  });
});

test("a backup steps back behind the daemon, before it reads anything", async () => {
  // Nobody writes to it: the command waits for its configuration.
  const configFile = join(site.folder, "waits.yaml");
  await runProgram("mkfifo", [configFile]);
  const child = spawn(program, ["backup", backups, "--config", configFile], { stdio: "ignore" });
  const isBack = () => getPriority(child.pid) === getPriority() + 10 || undefined;
  await waitFor("a lower priority", isBack).finally(() => child.kill("SIGKILL"));
  await once(child, "exit");
});

test("a restore takes no folder that has something in it", async () => {
  await backUp();
  const refused = await site.cli("restore", backups, "--to", site.stateDir);
  expect([refused.exitCode, refused.output]).toEqual([1, expect.stringContaining("is not empty")]);
  const elsewhere = join(site.folder, "elsewhere");
  await mkdir(elsewhere);
  await site.mustRun("restore", backups, "--to", elsewhere);
  const instance = (folder: string) => readFile(join(folder, "dropgate.instance"), "utf8");
  expect(await instance(elsewhere)).not.toBe(await instance(site.stateDir));
});

test("no backup lies in a state, and no state in a backup, whatever links lead there", async () => {
  const link = join(site.folder, "link");
  await symlink(site.stateDir, link);
  const inState = await site.cli("backup", join(link, "backups"));
  expect([inState.exitCode, inState.output]).toEqual([
    2,
    expect.stringContaining("overlaps with the state directory"),
  ]);
  expect(existsSync(join(site.stateDir, "backups"))).toBe(false);
  const around = await site.cli("backup", site.folder);
  expect(around.output).toContain("overlaps with the state directory");
  const made = await backUp();
  const inBackup = await site.cli("restore", made.folder, "--to", join(made.folder, "state", "new"));
  expect(inBackup.output).toContain("overlaps with the state directory");
  expect(await site.mustRun("backup", backups, "--verify")).toContain("is whole");
});

test("files that wait in a backup are restored in the order of its list, keys for their owner alone", async () => {
  const inbound = join("companies", company, "inbound");
  const times = Object.entries({ "b.xml": 1_000, "c.xml": 2_000, "a.xml": 3_000 });
  for (const [name] of times) {
    await writeFile(join(site.stateDir, inbound, name), name);
    // Longer than a tick of the file system: files with the same moment have no order.
    await pause(50);
  }
  // A copy tells by its own time when it came; in another state all are in the order of the restore.
  await chmod(join(site.stateDir, inbound, "c.xml"), 0o440);
  const made = await backUp();
  for (const [name, at] of times) await utimes(join(made.folder, "state", inbound, name), at, at);
  const elsewhere = join(site.folder, "elsewhere");
  await site.mustRun("restore", backups, "--to", elsewhere);
  const stats = ["b.xml", "c.xml", "a.xml"].map((name) =>
    statSync(join(elsewhere, "companies", company, "inbound", name), { bigint: true }),
  );
  expect(stats.map(({ mtimeMs }) => Number(mtimeMs))).toEqual([1_000_000, 2_000_000, 3_000_000]);
  expect(stats.map(({ mode }) => Number(mode & 0o777n))).toEqual([0o640, 0o640, 0o640]);
  const changed = stats.map(({ ctimeNs }) => ctimeNs);
  expect(changed.toSorted((one, other) => (one < other ? -1 : 1))).toEqual(changed);
  expect(new Set(changed).size).toBe(3);
  expect(statSync(join(elsewhere, "keys")).mode & 0o777).toBe(0o700);
});

test("a link in a backup is not restored", async () => {
  const made = await backUp();
  const keys = join(made.folder, "state", "keys");
  const [name = ""] = await readdir(keys);
  await rename(join(keys, name), join(site.folder, "key"));
  await symlink(join(site.folder, "key"), join(keys, name));
  const refused = await site.cli("restore", backups, "--to", join(site.folder, "elsewhere"));
  expect([refused.exitCode, refused.output]).toEqual([1, expect.stringContaining("no regular file")]);
});

describe("after a restore", () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.end());

  const idOf = ({ headers }: Post) => String(headers["x-dropgate-delivery"]);
  const bodies = (posts: readonly Post[]) => new Map(posts.map((one) => [idOf(one), one.body.toString()]));

  function report(eventCode: string, stopNbr?: string): Promise<string> {
    const geoStamp = { eventDTTM: "2026-11-05T09:00:00", eventTz: "UTC" };
    const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
    const body = { eventCode, geoStamp, routeNbr: "L1", ...data };
    return outcome(post(site, "/v5/event/route", body, { userName: "ann" }));
  }

  async function complete(stopNbr: string): Promise<void> {
    for (const step of ["arrival", "confirmation"])
      expect(await report(`stop.dropoff.${step}`, stopNbr)).toBe("200");
  }

  test("deliveries are held until they are released, and go out with the same ids and bytes", async () => {
    const host = { type: "https", url: receiver.url, allowPlain: true };
    const targets = { outbound: { type: "folder" }, host };
    await site.reconfigure({ companies: { [company]: { outbound: { targets } } } });
    await site.addUser("ann", ["DI_Driver"]);
    await site.start();
    const stops = ["S1", "S2", "S3"].map((stopNbr) => ({ stopNbr, stopType: "DO" }));
    await importLoads(site, [
      { loadHeader: { loadNbr: "L1" }, stops, loadAssignment: { driverUserName: "ann" } },
    ]);
    for (const code of ["route.initiated", "route.origin.depart"]) expect(await report(code)).toBe("200");
    await complete("S1");
    await waitFor("the first file", () => receiver.posts.length === 1 || undefined);
    receiver.always(reply(503));
    await complete("S2");
    await waitFor("a refusal", () => receiver.posts.length > 1 || undefined);
    await backUp();
    // After the backup, before the disaster.
    receiver.posts.length = 0;
    receiver.always();
    await complete("S3");
    await site.mustRun("delivery", "retry", "--all", "--target", "host");
    await waitFor("both files", () => bodies(receiver.posts).size === 2 || undefined);
    await site.kill();
    const sent = bodies(receiver.posts);
    receiver.posts.length = 0;

    await restoreInPlace();
    const run = await site.start();
    expect(run.log.find(({ msg }) => msg.includes("deliveries are held"))?.level).toBe("warn");
    const { status, messages } = await readiness();
    expect([status, messages]).toEqual([200, expect.stringContaining("dropgate delivery release")]);
    expect((await site.cli("check")).output).toContain("deliveries are held");
    expect((await site.cli("explain", "S2")).output).toContain("deliveries are held");
    // Time enough for the queue to look again, were it not for the hold; a file that is taken meanwhile shows that it works.
    expect(await send(site, stopFile("H1"))).toMatchObject({ status: 10 });
    expect(await site.mustRun("deliveries", "--target", "host")).toMatch(/waiting/);
    expect(receiver.posts).toEqual([]);

    const released = await site.mustRun("delivery", "release");
    expect(released).toContain(`${company}, host: 1 delivery`);
    await waitFor("what the backup had open", () => receiver.posts.length > 0 || undefined);
    await run.waitForLog(({ msg }) => msg === "deliveries are released");
    for (const [id, body] of bodies(receiver.posts)) expect(sent.get(id)).toBe(body);
    expect(await site.mustRun("delivery", "release")).toContain("not held");
    expect((await readiness()).messages).toBe("");
    // Not in the backup: sent again by the driver, and told under an id of its own.
    await complete("S3");
    expect((await http(site, `/v5/stop/info/S3/${company}`)).body).toContain('"stopStatus":"90"');
  });
});
