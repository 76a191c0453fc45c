/**
 * A backup each second for a minute, beside a daemon that takes 20 files a second and imports loads; every other one is ended
 * with kill -9 at a random moment. Then each backup that is whole is restored to a folder of its own, which proves its ledger,
 * and has to have each file and load that was answered before it began.
 *
 *   node test/nightly/backups-under-load.ts [--seconds 60] [--seed 1]
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import BetterSqlite from "better-sqlite3";
import SftpClient from "ssh2-sftp-client";
import { company, oneParser, program, Site, user } from "../support/daemon.ts";
import { importLoads } from "../support/gateway-client.ts";
import { randomOf } from "../support/random-numbers.ts";
import { runProgram } from "../support/run-program.ts";
import { stopFile } from "../support/stop-files.ts";

const filesPerSecond = 20;
const links = 4;
/** Backups are ended within this time; some are done before. */
const longestLifeMs = 1_500;

/** What was answered, and when (milliseconds UTC). */
type Answered = Map<string, number>;

/** Sends files at a steady rate and imports a load each second until it is told to stop. */
async function load(
  site: Site,
  seen: { files: Answered; loads: Answered },
  signal: AbortSignal,
): Promise<void> {
  let nth = 0;
  const link = async () => {
    const client = new SftpClient();
    await client.connect({ host: "127.0.0.1", port: site.sftpPort, username: user, password: site.password });
    while (!signal.aborted) {
      const begun = performance.now();
      nth += 1;
      const file = stopFile(`F${nth}`);
      await client.put(Buffer.from(file.content), `inbound/${file.name}`);
      seen.files.set(file.name, Date.now());
      await wait(Math.max(0, (links * 1_000) / filesPerSecond - (performance.now() - begun)));
    }
    await client.end();
  };
  const imports = async () => {
    for (let number = 1; !signal.aborted; number += 1) {
      const loadNbr = `L${number}`;
      await importLoads(site, [{ loadHeader: { loadNbr }, stops: [{ stopNbr: `${loadNbr}-1` }] }]);
      seen.loads.set(loadNbr, Date.now());
      await wait(1_000);
    }
  };
  await Promise.all([...Array.from({ length: links }, link), imports()]);
}

/** Makes a backup, which is ended after that time when one is given. Says how it ended. */
async function backUp(site: Site, folder: string, lifeMs: number | undefined): Promise<number> {
  const args = ["backup", folder, "--incremental", "--config", site.configFile];
  const result = await runProgram(
    program,
    args,
    lifeMs === undefined ? {} : { timeoutMs: Math.ceil(lifeMs) },
  );
  if (result.exitCode !== 0 && lifeMs === undefined) throw new Error(`backup: ${result.output}`);
  return result.exitCode;
}

async function makeBackups(site: Site, folder: string, { seconds, seed }: { seconds: number; seed: number }) {
  const random = randomOf(seed);
  const until = performance.now() + seconds * 1_000;
  const ended = { whole: 0, killed: 0 };
  for (let nth = 0; performance.now() < until; nth += 1) {
    const next = performance.now() + 1_000;
    const exitCode = await backUp(site, folder, nth % 2 === 0 ? undefined : 1 + random() * longestLifeMs);
    ended[exitCode === 0 ? "whole" : "killed"] += 1;
    await wait(Math.max(0, next - performance.now()));
  }
  return ended;
}

/** What a restored state has: files of its ledger or in `inbound/`, and loads that are applied or wait. */
async function contentOf(stateDir: string): Promise<{ files: Set<string>; loads: Set<string> }> {
  const database = new BetterSqlite(join(stateDir, "dropgate.db"), { readonly: true });
  const column = (sql: string) => database.prepare<[], string>(sql).pluck().all();
  const arrived = await readdir(join(stateDir, "companies", company, "inbound")).catch(() => []);
  const content = {
    files: new Set([...column("select name from files"), ...arrived]),
    loads: new Set(column("select load_nbr from loads union select load_nbr from import_items")),
  };
  database.close();
  return content;
}

/** What of that was answered before, and is not there. */
function missingOf(answered: Answered, has: ReadonlySet<string>, before: number): string[] {
  return [...answered].filter(([name, at]) => at < before && !has.has(name)).map(([name]) => name);
}

async function restoreEach(
  site: Site,
  folder: string,
  seen: { readonly files: Answered; readonly loads: Answered },
): Promise<{ restored: number; faults: string[] }> {
  const faults: string[] = [];
  const names = (await readdir(folder)).filter((name) => !name.endsWith(".part")).sort();
  for (const name of names) {
    const backup = join(folder, name);
    const stateDir = join(site.folder, "restored");
    await site.mustRun("backup", backup, "--verify");
    await site.mustRun("restore", backup, "--to", stateDir);
    const manifest = JSON.parse(await readFile(join(backup, "manifest.json"), "utf8")) as { begunAt: number };
    const has = await contentOf(stateDir);
    for (const kind of ["files", "loads"] as const) {
      const missing = missingOf(seen[kind], has[kind], manifest.begunAt);
      if (missing.length > 0)
        faults.push(`${name} lacks ${missing.length} ${kind}: ${missing.slice(0, 5).join(", ")}`);
    }
    await rm(stateDir, { recursive: true });
  }
  return { restored: names.length, faults };
}

const { values } = parseArgs({ options: { seconds: { type: "string" }, seed: { type: "string" } } });
const [seconds, seed] = [Number(values.seconds ?? 60), Number(values.seed ?? 1)];
const site = await Site.make({ inbound: oneParser });
const folder = await mkdtemp(join(tmpdir(), "dropgate-backups-"));
try {
  await site.start();
  const seen = { files: new Map<string, number>(), loads: new Map<string, number>() };
  const stopping = new AbortController();
  const loading = load(site, seen, stopping.signal);
  const ended = await makeBackups(site, folder, { seconds, seed });
  stopping.abort();
  await loading;
  const { restored, faults } = await restoreEach(site, folder, seen);
  const text = `${ended.whole} backups made, ${ended.killed} ended by kill -9, seed ${seed}; ${restored} restored`;
  console.log(`${text}; ${seen.files.size} files and ${seen.loads.size} loads answered meanwhile`);
  for (const fault of faults) console.log(fault);
  if (faults.length > 0 || ended.whole === 0 || ended.killed === 0) process.exitCode = 1;
} finally {
  await site.end();
  await rm(folder, { recursive: true, force: true });
}
