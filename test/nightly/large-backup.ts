/**
 * Backups of a large state beside 20 files a second: how long a full one and incremental ones take, and what a host waits for
 * the receipt of its file meanwhile. Time without a backup and time with one take turns, so that what else the machine does
 * counts for both; processor time and the lag of the daemon's event loop tell what is the backup's own. Exit code 1 when an
 * incremental one takes longer than 30 s, or one file of a hundred longer than 100 ms.
 *
 *   node test/nightly/large-backup.ts [--entries 1000000] [--files 100000] [--rounds 3]
 */
import { hash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import BetterSqlite from "better-sqlite3";
import { company, Site } from "../support/daemon.ts";
import { childrenCpuSeconds, observe, startSteadyHost } from "./observed-host.ts";

const mostSeconds = 30;
const mostMs = 100;
const filesOfFolder = 5_000;
const padding = "<!-- as long as most -->".repeat(80);

/** Entries of the past: of the last ones the files are there, the bytes of the others were removed. */
function plant(site: Site, { entries, files }: { readonly entries: number; readonly files: number }): void {
  const database = new BetterSqlite(join(site.stateDir, "dropgate.db"));
  const insert = database.prepare(
    `insert into files (company_id, name, name_time, sha256, size, channel, user_name, received_at, state, stop_function,
       stop_nbr, document_id, reasons, records_created, records_updated, records_deleted, decided_at, source, location,
       is_filed, removed_at, removed_by)
     values (1, ?, 20250101080000, ?, ?, 'sftp', 'host', 1, 'applied', '01', ?, null, '[]', 1, 0, 0, 1, ?, ?, 1, ?, ?)`,
  );
  database.transaction(() => {
    for (let nth = 0; nth < entries; nth += 1) {
      const name = `p${nth}_20250101_080000.xml`;
      const folder = `companies/${company}/archive/${1_000 + Math.floor(nth / filesOfFolder)}`;
      const text = `<Stop><StopNbr>P${nth}</StopNbr></Stop>${padding}`;
      const isThere = nth >= entries - files;
      if (isThere) {
        mkdirSync(join(site.stateDir, folder), { recursive: true });
        writeFileSync(join(site.stateDir, folder, name), text);
      }
      const place = [`companies/${company}/inbound/${name}`, `${folder}/${name}`];
      const removal = isThere ? [null, null] : [1, "host"];
      insert.run(name, hash("sha256", text), text.length, `P${nth}`, ...place, ...removal);
    }
  })();
  database.close();
}

async function timed(site: Site, folder: string, ...options: readonly string[]): Promise<number> {
  const [begun, cpuBefore] = [performance.now(), childrenCpuSeconds()];
  const output = await site.mustRun("backup", folder, ...options);
  const seconds = (performance.now() - begun) / 1_000;
  const cpu = (childrenCpuSeconds() - cpuBefore).toFixed(1);
  console.log(`${seconds.toFixed(1)} s, ${cpu} of processor time: ${output.trim().split("\n").join(" ")}`);
  return seconds;
}

const { values } = parseArgs({
  options: { entries: { type: "string" }, files: { type: "string" }, rounds: { type: "string" } },
});
const [entries, files] = [Number(values.entries ?? 1_000_000), Number(values.files ?? 100_000)];
const rounds = Number(values.rounds ?? 3);
const quietMs = 20_000;
const site = await Site.make();
const folder = await mkdtemp(join(tmpdir(), "dropgate-backups-"));
try {
  plant(site, { entries, files });
  await site.start();
  await timed(site, folder);
  const host = await startSteadyHost(site, 1);
  for (let round = 1; round <= rounds; round += 1) {
    const quiet = () => new Promise((resolve) => setTimeout(resolve, quietMs));
    await observe({ site, host, what: "without a backup" }, quiet);
    let seconds = 0;
    const { p99, faults } = await observe({ site, host, what: "beside a backup" }, async () => {
      seconds = await timed(site, folder, "--incremental");
    });
    if (seconds > mostSeconds || p99 > mostMs || faults.length > 0) process.exitCode = 1;
  }
  host.end();
} finally {
  await site.end();
  await rm(folder, { recursive: true, force: true });
}
