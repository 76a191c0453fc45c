/**
 * All pages of the console over the rows of years, beside twenty files a second: the first byte of each page with each of its
 * filters, and how long the files wait for their receipts meanwhile and without, in turns.
 *
 *   DROPGATE_CONSOLE_ROWS=10000000 DROPGATE_CONSOLE_STATE=/var/tmp/console npm run bench -- --only console
 *
 * The state is made once, in that folder, and used again. 10,000,000 entries of the ledger, with 1,000,000 deliveries and as
 * many stops, take 8 GB.
 */
import { existsSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { ConsoleClient } from "./support/console-client.ts";
import { consolePages, lookAround, type Pages, readSamples, type Samples } from "./support/console-pages.ts";
import { addConsoleRows } from "./support/console-rows.ts";
import { viewerName } from "./support/console-site-rows.ts";
import { newFolder, settleDisk } from "./support/folders.ts";
import { addCompanies } from "./support/ledger-rows.ts";
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
} from "./support/sites.ts";
import { connectAll, nameFilesAfter, sendSteadily, type Server } from "./steady.ts";

const rate = 20;
const wanted = { medianMs: 200, p99Ms: 1_000, receiptP99Ms: 100 };
/** Besides the large one. */
const smallCompanies = 11;

/** Rows that are planted are not to be removed for their age meanwhile. */
const kept = { outbound: "keep", messages: "keep", positions: "keep", imports: "keep" };

/** The installation in another folder, where it is to stay. */
async function movedTo(folder: string, made: Prepared): Promise<Prepared> {
  await cp(made.folder, folder, { recursive: true });
  const settings = await readFile(join(folder, "dropgate.yaml"), "utf8");
  await writeFile(join(folder, "dropgate.yaml"), settings.replaceAll(made.folder, folder));
  return { ...made, folder, keyFile: join(folder, "key") };
}

/** A state with so many entries. A first daemon has entered the targets that deliveries are of. */
async function plantedState(home: string, rows: number, folder: string): Promise<Prepared> {
  const settings = { console: { operators: [`${viewerName}@${companyCode}`] }, retention: kept };
  const prepared = await movedTo(folder, await prepareDaemon(home, settings));
  const config = ["--config", join(folder, "dropgate.yaml"), "--password-file", join(folder, "password")];
  const account = ["--company", companyCode, "--role", "DI_Integration", "--role", "MemberAdmin"];
  await runProgram(join(home, "bin/dropgate"), ["user", "add", viewerName, ...account, ...config]);
  await endProcess((await startDaemon(prepared)).process);
  const stateDir = join(folder, "var");
  addCompanies(stateDir, smallCompanies);
  progress(`planting ${rows} entries `);
  const codes = [companyCode, ...Array.from({ length: smallCompanies }, (_, index) => `C${index}`)];
  addConsoleRows(stateDir, rows, codes);
  return prepared;
}

/** The same in a folder that is kept; made there unless it is there. */
async function keptState(home: string, rows: number, folder: string): Promise<Prepared> {
  const note = join(folder, "prepared.json");
  if (existsSync(note)) return { ...(JSON.parse(await readFile(note, "utf8")) as Prepared), home };
  const prepared = await plantedState(home, rows, folder);
  await writeFile(note, JSON.stringify(prepared));
  return prepared;
}

type Times = ReadonlyMap<string, number[]>;

/** Each page once a turn. */
async function openPages(
  client: ConsoleClient,
  pages: Pages,
  { times, turns }: { readonly times: Times; readonly turns: readonly number[] },
): Promise<void> {
  for (const turn of turns) {
    for (const [name, address] of Object.entries(pages)) {
      const { firstByteMs } = await client.get(address(turn)).catch((cause: unknown) => {
        throw new Error(`the page "${name}" could not be opened`, { cause });
      });
      times.get(name)?.push(firstByteMs);
    }
  }
}

interface ReceiptTimes {
  readonly beside: number[];
  readonly without: number[];
}

function measurementsOf(times: Times, receipts: ReceiptTimes, rows: number): Measurement[] {
  const suite = "console";
  const row = (what: string, values: readonly number[], limit: number, note?: string): Measurement => ({
    ...{ suite, what, figure: { values, unit: "ms" }, wanted: { of: "figure", is: "below", limit } },
    ...(note === undefined ? {} : { note }),
  });
  const p99 = (values: readonly number[]) => quantileOf(values, 0.99);
  const all = [...times.values()].flat();
  const slowest = Math.max(...[...times.values()].map(p99));
  const { beside, without } = receipts;
  return [
    ...[...times].map(([name, values]) =>
      row(name, [medianOf(values)], wanted.medianMs, `99th percentile ${p99(values).toFixed(0)} ms`),
    ),
    row(`all pages, 99th percentile, ${rows} entries`, [p99(all)], wanted.p99Ms),
    row("the slowest page, 99th percentile", [slowest], wanted.p99Ms),
    row(
      `${rate} files a second beside, close to receipt, 99th percentile`,
      [p99(beside)],
      wanted.receiptP99Ms,
      `${p99(without).toFixed(1)} ms without; medians ${medianOf(beside).toFixed(1)} and ${medianOf(without).toFixed(1)} ms`,
    ),
  ];
}

/** How much is asked and sent. */
interface Amounts {
  readonly rounds: number;
  /** Of the pages, in each round. */
  readonly turns: number;
  /** Of files alone, in each round. */
  readonly seconds: number;
}

const amounts = {
  quick: { rounds: 1, turns: 3, seconds: 5 },
  whole: { rounds: 4, turns: 6, seconds: 15 },
} as const satisfies Readonly<Record<string, Amounts>>;

/** Rounds of files alone, and of files beside the pages. */
async function measureRounds(
  server: Server,
  { client, pages }: { readonly client: ConsoleClient; readonly pages: Pages },
  { rounds, turns, seconds }: Amounts,
) {
  const times: Times = new Map(Object.keys(pages).map((name) => [name, []]));
  const receipts: ReceiptTimes = { beside: [], without: [] };
  const send = async (into: number[], forSeconds: number) => {
    into.push(...(await sendSteadily(server, rate, forSeconds)).map(({ receiptMs }) => receiptMs));
  };
  for (let round = 0; round < rounds; round += 1) {
    await send(receipts.without, seconds);
    let isOver = false;
    const numbers = Array.from({ length: turns }, (_, turn) => round * turns + turn);
    const opening = openPages(client, pages, { times, turns: numbers }).finally(() => {
      isOver = true;
    });
    do await send(receipts.beside, 5);
    while (!isOver);
    await opening;
    progress(".");
  }
  return { times, receipts };
}

async function measure(
  daemon: DaemonSite,
  server: Server,
  { samples, isQuick }: { readonly samples: Samples; readonly isQuick: boolean },
): Promise<Measurement[]> {
  const client = new ConsoleClient(daemon.http);
  try {
    await client.signIn(viewerName, daemon.password);
    // The newest file has its content; code and caches are warm in a server that runs for months.
    await sendSteadily(server, rate, 2);
    const pages = consolePages(samples, await lookAround(client));
    await openPages(client, pages, { times: new Map(), turns: [0] });
    const { times, receipts } = await measureRounds(
      server,
      { client, pages },
      isQuick ? amounts.quick : amounts.whole,
    );
    return measurementsOf(times, receipts, samples.rows);
  } finally {
    client.close();
  }
}

export async function benchConsole({ isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const { DROPGATE_CONSOLE_ROWS: asked, DROPGATE_CONSOLE_STATE: folder } = process.env;
  const rows = Number(asked ?? (isQuick ? 100_000 : 1_000_000));
  const prepared = await (folder === undefined
    ? plantedState(home, rows, await newFolder("console"))
    : keptState(home, rows, folder));
  const samples = readSamples(join(prepared.folder, "var"), rows);
  nameFilesAfter(samples.lastFileId);
  await settleDisk();
  const daemon = await startDaemon(prepared);
  const receipts = new Receipts(daemon.path("receipts"));
  const uploaders = await connectAll(daemon);
  try {
    return await measure(daemon, { site: daemon, uploaders, receipts }, { samples, isQuick });
  } finally {
    for (const uploader of uploaders) uploader.end();
    receipts.close();
    await daemon.end();
  }
}
