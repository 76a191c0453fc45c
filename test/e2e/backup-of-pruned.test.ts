/**
 * Backups of a state of which parts were pruned: what is gone stays gone, what was moved stays where it was moved to, and the
 * ledger of what is restored proves as exactly as that of the state (docs/retention.md#what-stays-of-a-file).
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { afterEach, beforeEach, expect } from "vitest";
import { dayMs } from "../../src/lib/durations.ts";
import { company, oneParser, program, Site } from "../support/daemon.ts";
import { runProgram } from "../support/run-program.ts";
import { filedIn, receiptFor, receiptName, send, type StopFile, stopFile } from "../support/stop-files.ts";
import { killedExitCode } from "./crash-host.ts";
// A backup by dropgate copies the file of SQLite; a server has tools of its own.
import { itOnSqlite as test } from "../support/store-dialect.ts";
import { sampled } from "../support/sampled.ts";

interface Backup {
  readonly folder: string;
  readonly base: string | null;
  readonly shared: number;
  readonly ledgerEntries: number;
  readonly discrepancies: readonly string[];
}

interface Verified {
  readonly accounts: readonly Readonly<Record<string, number | string>>[];
  readonly entries: number;
  readonly pruned: number;
  readonly discrepancies: readonly { readonly kind: string; readonly message: string }[];
}

interface Listed {
  readonly id: number;
  readonly name: string;
  readonly state: string;
  readonly location: string;
}

let site: Site;
let backups: string;
let old: string;

/** Ages of the tests; `ledger` forgets what is older than a hundred days. */
const ages = { archive: 30, error: 30, receipts: 30, ledger: 100 };

beforeEach(async () => {
  backups = await mkdtemp(join(tmpdir(), "dropgate-backups-"));
  site = await Site.make({ inbound: oneParser });
  old = join(site.folder, "old");
  await mkdir(old);
});
afterEach(async () => {
  await site.end();
  await rm(backups, { recursive: true, force: true });
});

/** What is refused: a state of which nothing can be made. */
const wrong: StopFile = { ...stopFile("W1"), content: "<Stop><StopNbr>W1</StopNbr>" };
const names = ["F1", "F2", "M1", "M2", "Y1"].map((nbr) => stopFile(nbr));
const daysOf: Readonly<Record<string, number>> = { f1: 200, f2: 200, m1: 50, m2: 50, w1: 50 };

/** Seven files: two are to be forgotten, three to be pruned or moved, two are young, one of them a duplicate. */
async function takeFiles(): Promise<void> {
  await site.start();
  for (const file of names) expect(await send(site, file)).toMatchObject({ status: 10 });
  expect(await send(site, wrong)).toMatchObject({ status: 99 });
  const again = stopFile("M1");
  await rm(site.path("receipts", receiptName(again.name)));
  expect(await send(site, again)).toMatchObject({ status: 10 });
  await site.stop();
  const database = new BetterSqlite(join(site.stateDir, "dropgate.db"));
  const aged = database.prepare(
    "update files set received_at = ?, decided_at = ? where name like ? and first_id is null",
  );
  for (const [stop, days] of Object.entries(daysOf)) {
    const at = Date.now() - days * dayMs;
    aged.run(at, at, `${stop}_%`);
  }
  database.close();
}

function backUp(...options: readonly string[]): Promise<Backup> {
  return site.json<Backup>("backup", backups, ...options);
}

const verified = () => site.json<Verified>("ledger", "verify");
const listed = () => site.json<Listed[]>("files", "--limit", "100");

/** Restores the newest backup on another place, and goes on there. */
async function restoreElsewhere(): Promise<void> {
  const elsewhere = await mkdtemp(join(site.folder, "restored-"));
  await site.mustRun("restore", backups, "--to", elsewhere);
  await site.moveTo(elsewhere);
}

const account = { company, received: 7, applied: 5, refused: 1, duplicate: 1, superseded: 0, waiting: 0 };

test.each(
  sampled(
    [
      ["moved to another folder", true],
      ["removed", false],
    ] as const,
    1,
  ),
)("a state whose files were %s and whose entries were forgotten is restored as it was", async (_, moves) => {
  await takeFiles();
  await site.reconfigure({ retention: moves ? { ...ages, moveTo: old } : ages });
  const before = await backUp();
  await site.mustRun("prune");
  const pruned = await verified();
  expect(pruned).toMatchObject({ discrepancies: [], entries: 5, pruned: 3 });
  expect(pruned.accounts).toEqual([{ ...account, pruned: 2 }]);
  const entries = await listed();
  const made = await backUp("--incremental");
  expect([before.ledgerEntries, made.ledgerEntries, made.discrepancies]).toEqual([7, 5, []]);
  expect([made.base, made.shared > 0]).toEqual([before.folder.slice(backups.length + 1), true]);
  expect(await site.mustRun("backup", backups, "--verify")).toContain("is whole");
  const inState = site.stateDir;
  await restoreElsewhere();
  expect(await verified()).toEqual(pruned);
  const inRestored = (location: string) => location.replace(inState, site.stateDir);
  expect(await listed()).toEqual(
    entries.map((entry) => ({ ...entry, location: inRestored(entry.location) })),
  );
  const left = await readdir(site.path("archive"), { recursive: true });
  expect(left.filter((name) => name.endsWith(".xml"))).toHaveLength(2);
  expect(existsSync(join(old, company))).toBe(moves);
  const told = await site.mustRun("explain", "m2_20261105_080000.xml");
  expect(told).toMatch(/pruned on .* by the retention of 30 days/);
  if (moves) expect(told).toContain(old);
});

test("a restored state goes on to know what was pruned, and not what was forgotten", async () => {
  await takeFiles();
  await site.reconfigure({ retention: ages });
  await site.mustRun("prune");
  const lastId = Math.max(...(await listed()).map(({ id }) => id));
  await backUp();
  await restoreElsewhere();
  await site.start();
  const [pruned, forgotten] = [stopFile("M2"), stopFile("F1")];
  for (const file of [pruned, forgotten]) {
    await send(site, file);
    await receiptFor(site, file.name);
  }
  await site.stop();
  const later = (await listed()).filter(({ id }) => id > lastId).sort((one, other) => one.id - other.id);
  // Of the stop itself everything is known, so that what was forgotten is applied again without doubling it.
  expect(later.map(({ name, state }) => [name, state])).toEqual([
    [pruned.name, "duplicate"],
    [forgotten.name, "applied"],
  ]);
  const report = await verified();
  expect(report.discrepancies).toEqual([]);
  expect(report.accounts).toEqual([{ ...account, received: 9, applied: 6, duplicate: 2, pruned: 2 }]);
});

test("an entry that a restored state has lost is found, although others were forgotten", async () => {
  await takeFiles();
  await site.reconfigure({ retention: ages });
  await site.mustRun("prune");
  await backUp();
  await restoreElsewhere();
  const database = new BetterSqlite(join(site.stateDir, "dropgate.db"));
  database.prepare("delete from files where name like 'm2_%'").run();
  database.close();
  const { exitCode, stdout } = await site.cli("ledger", "verify", "--json");
  const { discrepancies } = JSON.parse(stdout) as Verified;
  expect([exitCode, discrepancies]).toEqual([
    1,
    [
      expect.objectContaining({
        kind: "count",
        message: "7 entries were made, 4 are there and 2 were removed by their age: 1 are missing",
      }),
    ],
  ]);
});

test.each(
  sampled(
    [
      ["before a file was gone", "unlink@prune-files.removeOne"],
      ["after it was moved", "commit@prune-files.noteOutcome"],
    ] as const,
    1,
  ),
)("a pass that died %s is backed up as it is, and finished after a restore", async (_, step) => {
  await takeFiles();
  await site.reconfigure({ retention: { ...ages, moveTo: old } });
  const env = { ...process.env, DROPGATE_KILL_POINT: step };
  const died = await runProgram(program, ["prune", "--config", site.configFile], { env });
  expect(died.exitCode, died.output).toBe(killedExitCode);
  const atDeath = await verified();
  expect(atDeath.discrepancies).toEqual([]);
  const there = await filedIn(site, "archive");
  expect((await backUp()).discrepancies).toEqual([]);
  expect(await site.mustRun("backup", backups, "--verify")).toContain("is whole");
  await restoreElsewhere();
  expect(await verified()).toEqual(atDeath);
  expect(await filedIn(site, "archive")).toEqual(there);
  await site.mustRun("prune");
  const report = await verified();
  expect([report.accounts, report.entries, report.pruned, report.discrepancies]).toEqual([
    [{ ...account, pruned: 2 }],
    5,
    3,
    [],
  ]);
  // Nothing was moved twice.
  const moved = await readdir(join(old, company, "archive"), { recursive: true });
  expect(moved.filter((name) => name.endsWith(".xml"))).toHaveLength(4);
});
