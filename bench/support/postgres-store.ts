/** A server of PostgreSQL as one is run for others: what is committed is on the disk. */
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { routedStopOf } from "../../src/domain/execution/routed-stop.ts";
import { type PostgresServer, startPostgres } from "../../test/support/postgres-server.ts";
import { jsonLoadHeader, jsonStop, numberMark, products } from "../sample-json.ts";
import { newFolder } from "./folders.ts";
import { numberText } from "./load-job.ts";
import { companyCode } from "./sites.ts";

const tickMs = 10;

export function startCarefulPostgres(): Promise<PostgresServer> {
  return startPostgres({ settings: ["shared_buffers=512MB", "max_wal_size=4GB"] });
}

function timesOf(pid: string): { readonly parent: number; readonly own: number; readonly ofEnded: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const sum = (...places: readonly number[]) => places.reduce((total, at) => total + (fields[at] ?? 0), 0);
  return { parent: fields[1] ?? 0, own: sum(11, 12) * tickMs, ofEnded: sum(13, 14) * tickMs };
}

/** Processor time of all processes of the server so far, those that have ended too. */
export function serverCpuMs(server: Pick<PostgresServer, "pid">): number {
  const first = server.pid();
  const { own, ofEnded } = timesOf(String(first));
  let total = own + ofEnded;
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const times = timesOf(pid);
      if (times.parent === first) total += times.own;
    } catch {
      // It has ended meanwhile; its time is counted with the first process the next time.
    }
  }
  return total;
}

/** A reference to the address of the database, for `store`. */
export async function referenceTo(url: string): Promise<string> {
  const file = join(await newFolder("database"), "url");
  await writeFile(file, `${url}\n`, { mode: 0o600 });
  return `file:${file}`;
}

/** The loads and stops of `addRoutes`, in a database without loads. */
export async function addRoutesToServer(url: string, count: number): Promise<void> {
  const stop = jsonStop(numberMark, products.small);
  const driver = JSON.stringify({ driverName: "Ann Hill", driverUserName: "ann" });
  const execution = JSON.stringify({
    ...{ actualStartDTTM: "2026-11-05T08:00:00", actualStartTimeZone: "America/New_York" },
    originDepartureDTTM: "2026-11-05T08:10:00",
  });
  const width = numberText(0).length;
  const filled = (parameter: string, letter: string) =>
    `replace(${parameter}, $1, '${letter}' || lpad(i::text, ${width}, '0'))`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `insert into loads (id, company_id, load_nbr, load_status, driver, body, execution, extra, created_at, updated_at)
       select i + 1, c.id, 'R' || lpad(i::text, ${width}, '0'), 40, $3, ${filled("$4", "R")}, $5, '{"load":{}}', 0, 0
       from generate_series(0, $6 - 1) as i, companies c where c.code = $2`,
      [numberMark, companyCode, driver, JSON.stringify(jsonLoadHeader(numberMark)), execution, count],
    );
    await client.query(
      `insert into stops (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, body, routed, execution, load_id,
       load_position, created_at, updated_at)
       select c.id, 'T' || lpad(i::text, ${width}, '0'), 't' || lpad(i::text, ${width}, '0'), '38', '00',
         ${filled("$3", "T")}, $4, '{}', i + 1, 0, 0, 0
       from generate_series(0, $5 - 1) as i, companies c where c.code = $2`,
      [numberMark, companyCode, JSON.stringify(stop), JSON.stringify(routedStopOf(stop)), count],
    );
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}
