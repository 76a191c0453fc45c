/**
 * Pages of the console over a ledger of years, beside twenty files a second: the first byte of each page, and how long the
 * files wait for their receipts meanwhile and without.
 *
 *   DROPGATE_CONSOLE_ROWS=10000000 DROPGATE_CONSOLE_STATE=/var/tmp/console npm run bench -- --only console
 *
 * The state is made once, in that folder, and used again.
 */
import { existsSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { ConsoleClient } from "./support/console-client.ts";
import { addConsoleRows, filesPerDay, nameOfConsole, stopOfConsole } from "./support/console-rows.ts";
import { settleDisk } from "./support/folders.ts";
import { type Measurement, medianOf, quantileOf } from "./support/measurement.ts";
import { Receipts } from "./support/receipts.ts";
import { runProgram } from "./support/run-program.ts";
import {
  companyCode,
  type DaemonSite,
  endProcess,
  type Prepared,
  prepareDaemon,
  startDaemon,
  userName,
} from "./support/sites.ts";
import { connectAll, sendSteadily, type Server } from "./steady.ts";

const rate = 20;
const wanted = { medianMs: 200, p99Ms: 1_000, receiptP99Ms: 100 };

/** A state with so many entries. A first daemon has entered the targets that deliveries are of. */
async function prepareLedger(home: string, rows: number): Promise<Prepared> {
  const prepared = await prepareDaemon(home, { console: { operators: [`${userName}@${companyCode}`] } });
  const config = ["--config", join(prepared.folder, "dropgate.yaml")];
  const account = ["--company", companyCode, "--role", "DI_Integration", "--role", "MemberAdmin"];
  await runProgram(join(home, "bin/dropgate"), ["user", "add", userName, ...account, ...config]);
  await endProcess((await startDaemon(prepared)).process);
  progress(`planting ${rows} entries `);
  addConsoleRows(join(prepared.folder, "var"), rows);
  return prepared;
}

/** The same in a folder that is kept; made there unless it is there. */
async function keptLedger(home: string, rows: number, folder: string): Promise<Prepared> {
  const note = join(folder, "prepared.json");
  if (existsSync(note)) return { ...(JSON.parse(await readFile(note, "utf8")) as Prepared), home };
  const made = await prepareLedger(home, rows);
  await cp(made.folder, folder, { recursive: true });
  const settings = await readFile(join(folder, "dropgate.yaml"), "utf8");
  await writeFile(join(folder, "dropgate.yaml"), settings.replaceAll(made.folder, folder));
  const prepared = { ...made, folder, keyFile: join(folder, "key") };
  await writeFile(note, JSON.stringify(prepared));
  return prepared;
}

/** Addresses of a page, one for each turn. */
type Addresses = (turn: number) => string;

/** What people open, by names for the table. */
function pagesOf(
  rows: number,
  found: { readonly file: string; readonly next: string; readonly sha256: string },
) {
  const nth = (turn: number) => Math.floor(((turn * 7919) % 1_000) * (rows / 1_000));
  const q = (text: string) => `/console/find?q=${encodeURIComponent(text)}`;
  const oldest = new Date(Date.now() - (rows / filesPerDay) * 86_400_000 * 0.9).toISOString().slice(0, 10);
  const list =
    (query: string): Addresses =>
    () =>
      `/console/files?${query}`;
  return {
    "find by name": (turn) => q(nameOfConsole(nth(turn))),
    "find by the beginning of a name": (turn) => q(nameOfConsole(nth(turn)).slice(0, 7)),
    "find by stop": (turn) => q(stopOfConsole(nth(turn))),
    "find by shipment": (turn) => q(`S${nth(turn) % (rows / 10)}`),
    "find by SHA-256": () => q(found.sha256.slice(0, 12)),
    "find what is not there": (turn) => q(`nothing${turn}`),
    "files, the newest": list(""),
    "files, the next page": () => found.next,
    "files, refused": list("state=refused"),
    "files, by reason": list("reason=951"),
    "files, waiting": list("state=waiting"),
    "files, of a user": list("user=host3"),
    "files, of a user that never sent one": list("user=nobody"),
    "files, of a name in the middle": list("name=*000777*"),
    "files, of an old day": list(`day=${oldest}`),
    "files, bytes removed": list("state=pruned"),
    "a file": () => found.file,
    "a stop": (turn) => `/console/stops/${companyCode}/${stopOfConsole(nth(turn) % (rows / 10))}`,
  } satisfies Readonly<Record<string, Addresses>>;
}

/** One file, the page behind the first, and a SHA-256, as the first pages have them. */
async function lookAround(client: ConsoleClient) {
  const { body } = await client.get("/console/files");
  const file = /href="(\/console\/files\/[0-9a-f-]{36})"/.exec(body)?.[1];
  const next = /rel="next" href="([^"]+)"/.exec(body)?.[1]?.replaceAll("&amp;", "&");
  const csv = (await client.get("/console/files.csv?state=applied")).body;
  const sha256 = /"([0-9a-f]{64})"/.exec(csv.slice(-20_000))?.[1];
  if (file === undefined || next === undefined || sha256 === undefined)
    throw new Error("the page of files names no file, no next page or no SHA-256");
  return { file, next, sha256 };
}

type Times = Map<string, number[]>;

async function openPages(client: ConsoleClient, pages: Readonly<Record<string, Addresses>>, turns: number) {
  const times: Times = new Map(Object.keys(pages).map((name) => [name, []]));
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [name, address] of Object.entries(pages))
      times.get(name)?.push((await client.get(address(turn))).firstByteMs);
  }
  return times;
}

function measurementsOf(
  times: Times,
  receipts: { readonly beside: number[]; readonly without: number[] },
  rows: number,
): Measurement[] {
  const suite = "console";
  const row = (what: string, values: readonly number[], limit: number, note?: string): Measurement => ({
    ...{ suite, what, figure: { values, unit: "ms" }, wanted: { of: "figure", is: "below", limit } },
    ...(note === undefined ? {} : { note }),
  });
  const all = [...times.values()].flat();
  return [
    ...[...times].map(([name, values]) =>
      row(
        `${name}, first byte`,
        [medianOf(values)],
        wanted.medianMs,
        `99th percentile ${quantileOf(values, 0.99).toFixed(0)} ms`,
      ),
    ),
    row(`all pages, first byte, 99th percentile, ${rows} entries`, [quantileOf(all, 0.99)], wanted.p99Ms),
    row(
      `${rate} files a second beside, close to receipt, 99th percentile`,
      [quantileOf(receipts.beside, 0.99)],
      wanted.receiptP99Ms,
      `${quantileOf(receipts.without, 0.99).toFixed(1)} ms without; medians ${medianOf(receipts.beside).toFixed(1)} and ${medianOf(receipts.without).toFixed(1)} ms`,
    ),
  ];
}

async function measure(
  daemon: DaemonSite,
  server: Server,
  { rows, isQuick }: { readonly rows: number; readonly isQuick: boolean },
): Promise<Measurement[]> {
  const client = new ConsoleClient(daemon.http);
  try {
    await client.signIn(userName, daemon.password);
    const pages = pagesOf(rows, await lookAround(client));
    // Code and caches are warm in a server that runs for months.
    await openPages(client, pages, 2);
    const seconds = isQuick ? 5 : 20;
    const without = (await sendSteadily(server, rate, seconds)).map(({ receiptMs }) => receiptMs);
    let isOver = false;
    const opening = openPages(client, pages, isQuick ? 5 : 30).finally(() => {
      isOver = true;
    });
    const beside: number[] = [];
    do beside.push(...(await sendSteadily(server, rate, 5)).map(({ receiptMs }) => receiptMs));
    while (!isOver);
    return measurementsOf(await opening, { beside, without }, rows);
  } finally {
    client.close();
  }
}

export async function benchConsole({ isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const { DROPGATE_CONSOLE_ROWS: asked, DROPGATE_CONSOLE_STATE: folder } = process.env;
  const rows = Number(asked ?? (isQuick ? 100_000 : 1_000_000));
  const prepared = await (folder === undefined ? prepareLedger(home, rows) : keptLedger(home, rows, folder));
  await settleDisk();
  const daemon = await startDaemon(prepared);
  const receipts = new Receipts(daemon.path("receipts"));
  const uploaders = await connectAll(daemon);
  try {
    return await measure(daemon, { site: daemon, uploaders, receipts }, { rows, isQuick });
  } finally {
    for (const uploader of uploaders) uploader.end();
    receipts.close();
    await daemon.end();
  }
}
