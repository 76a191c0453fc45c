/**
 * `/metrics` of a daemon with 200 companies, each with targets, an export and expected files: beside a bare server that makes
 * the same text of numbers in memory, and with rows of years beside none, as a scrape must not walk them.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { type HttpSite, startFloorServer } from "./support/floor-server.ts";
import { newFolder, settleDisk } from "./support/folders.ts";
import { addAppliedRows, addCompanies } from "./support/ledger-rows.ts";
import { httpSiteOf } from "./support/load-turns.ts";
import { type Measurement, medianOf, ratiosOf } from "./support/measurement.ts";
import { addHistory } from "./support/scrape-rows.ts";
import {
  companyCode,
  cpuMsOf,
  type DaemonSite,
  endProcess,
  type Prepared,
  prepareDaemon,
  startDaemon,
} from "./support/sites.ts";

const companies = 200;
const agent = new Agent({ keepAlive: true });

/** What a company of some traffic has in the configuration. */
function settingsOf(path: string): object {
  return {
    outbound: {
      targets: { outbound: { type: "folder" }, erp: { type: "folder", path } },
      exports: { nightly: { schedule: "30 2 * * *", zone: "UTC" } },
    },
    expectedArrivals: { morning: { atLeast: 1, until: "07:00", zone: "UTC" } },
  };
}

/** A state with all companies, whose targets and exports are known: a first daemon has entered them. */
async function prepareCompanies(home: string): Promise<Prepared> {
  const outside = await newFolder("outside");
  const codes = [companyCode, ...Array.from({ length: companies - 1 }, (_, index) => `C${index}`)];
  for (const code of codes) await mkdir(join(outside, code));
  const settings = Object.fromEntries(codes.map((code) => [code, settingsOf(join(outside, code))]));
  const prepared = await prepareDaemon(home, { companies: settings });
  addCompanies(join(prepared.folder, "var"), companies - 1);
  await endProcess((await startDaemon(prepared)).process);
  progress(".");
  return prepared;
}

function scrape(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path: "/metrics", agent, timeout: 30_000 }, (reply) => {
      let text = "";
      reply
        .setEncoding("utf8")
        .on("data", (part: string) => {
          text += part;
        })
        .on("end", () => {
          if (reply.statusCode === 200) resolve(text);
          else reject(new Error(`a scrape was answered with ${reply.statusCode}`));
        })
        .on("error", reject);
    });
    sent
      .on("error", reject)
      .on("timeout", () => sent.destroy(new Error("a scrape was not answered")))
      .end();
  });
}

interface Turn {
  /** From the request to the end of its answer, the median. */
  readonly tookMs: number;
  /** Processor time of the server for one. */
  readonly cpuMs: number;
}

async function takeTurn({ process, port }: HttpSite, scrapes: number): Promise<Turn> {
  const took: number[] = [];
  const before = await cpuMsOf(process);
  for (let index = 0; index < scrapes; index += 1) {
    const begun = performance.now();
    await scrape(port);
    took.push(performance.now() - begun);
  }
  progress(".");
  return { tookMs: medianOf(took), cpuMs: ((await cpuMsOf(process)) - before) / scrapes };
}

type Turns = Readonly<Record<"full" | "empty" | "floor", Turn[]>>;

function measurementsOf(turns: Turns, note: string, rows: number): Measurement[] {
  const suite = "scrape";
  const sample = (of: keyof Turns, what: keyof Turn) => ({
    values: turns[of].map((turn) => turn[what]),
    unit: "ms",
  });
  const measured = (what: string, of: keyof Turn, floor: "empty" | "floor") => {
    const [figure, least] = [sample("full", of), sample(floor, of)];
    return { suite, what, figure, floor: least, ratios: ratiosOf(figure.values, least.values) };
  };
  return [
    {
      ...measured(
        `/metrics of ${companies} companies, beside the same text of bare numbers`,
        "tookMs",
        "floor",
      ),
      wanted: { of: "figure", is: "below", limit: 20 },
      note,
    },
    measured("its processor time, beside the same", "cpuMs", "floor"),
    {
      ...measured(
        `its processor time with ${rows} ledger entries and a history, beside none`,
        "cpuMs",
        "empty",
      ),
      wanted: { of: "ratio", is: "below", limit: 1.25 },
    },
  ];
}

interface Sites {
  readonly full: DaemonSite;
  readonly empty: DaemonSite;
  readonly floor: HttpSite;
}

/** One turn each a round, the first of them unmeasured. */
async function takeTurns(
  { full, empty, floor }: Sites,
  { rounds, scrapes }: { readonly rounds: number; readonly scrapes: number },
): Promise<Turns> {
  const turns: Turns = { full: [], empty: [], floor: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const taken = {
      full: await takeTurn(httpSiteOf(full), scrapes),
      floor: await takeTurn(floor, scrapes),
      empty: await takeTurn(httpSiteOf(empty), scrapes),
    };
    if (round === 0) continue;
    turns.full.push(taken.full);
    turns.floor.push(taken.floor);
    turns.empty.push(taken.empty);
  }
  return turns;
}

export async function benchScrape({ rounds, isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const rows = isQuick ? 20_000 : 1_000_000;
  const many = await prepareCompanies(home);
  const stateDir = join(many.folder, "var");
  addAppliedRows(stateDir, rows);
  addHistory(stateDir, rows / 5);
  const none = await prepareCompanies(home);
  await settleDisk();
  const full = await startDaemon(many);
  const empty = await startDaemon(none);
  const text = await scrape(httpSiteOf(full).port);
  const answer = join(await newFolder("answer"), "metrics");
  await writeFile(answer, text);
  const floor = await startFloorServer("scrape-floor.ts", answer);
  try {
    const turns = await takeTurns({ full, empty, floor }, { rounds, scrapes: isQuick ? 10 : 100 });
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
    const note = `${lines} series, ${Math.round(Buffer.byteLength(text) / 1000)} kB`;
    return measurementsOf(turns, note, rows);
  } finally {
    agent.destroy();
    await floor.end();
    await empty.end();
    await full.end();
  }
}
