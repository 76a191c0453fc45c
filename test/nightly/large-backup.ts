/**
 * Backups of a large state beside 20 files a second: how long a full one and an incremental one take, and what a host waits for
 * the receipt of its file meanwhile. Exit code 1 when the incremental one takes longer than 30 s, or one file of a hundred
 * longer than 100 ms.
 *
 *   node test/nightly/large-backup.ts [--entries 1000000] [--files 100000]
 */
import { hash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import BetterSqlite from "better-sqlite3";
import { company, Site, user } from "../support/daemon.ts";
import { SteadyHostProcess } from "./steady-host.ts";

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
  const begun = performance.now();
  const output = await site.mustRun("backup", folder, ...options);
  const seconds = (performance.now() - begun) / 1_000;
  console.log(`${seconds.toFixed(1)} s: ${output.trim().split("\n").join(" ")}`);
  return seconds;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const { values } = parseArgs({ options: { entries: { type: "string" }, files: { type: "string" } } });
const [entries, files] = [Number(values.entries ?? 1_000_000), Number(values.files ?? 100_000)];
const site = await Site.make();
const folder = await mkdtemp(join(tmpdir(), "dropgate-backups-"));
try {
  plant(site, { entries, files });
  await site.start();
  await timed(site, folder);
  const host = await SteadyHostProcess.start({
    ...{ port: site.sftpPort, keyFile: site.keyFile, login: user, receipts: site.path("receipts") },
    ...{ ratePerSecond: 20, firstSerial: 1 },
  });
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const quiet = await host.report();
  const seconds = await timed(site, folder, "--incremental");
  const { timings, faults } = await host.report();
  host.end();
  const p99 = percentile(
    timings.map(({ closeToReceiptMs }) => closeToReceiptMs),
    0.99,
  );
  const usual = percentile(
    quiet.timings.map(({ closeToReceiptMs }) => closeToReceiptMs),
    0.99,
  );
  console.log(
    `close to receipt, 99th percentile: ${p99.toFixed(1)} ms of ${timings.length} files, ${usual.toFixed(1)} ms without a backup`,
  );
  for (const fault of faults) console.log(fault);
  if (seconds > mostSeconds || p99 > mostMs || faults.length > 0) process.exitCode = 1;
} finally {
  await site.end();
  await rm(folder, { recursive: true, force: true });
}
