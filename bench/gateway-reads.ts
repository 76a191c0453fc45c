/**
 * Stop and load details from the real daemon with a full store: beside a bare server that looks the same rows up in the same
 * database, and beside a daemon with a small store.
 */
import { join } from "node:path";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { type HttpSite, startFloorServer } from "./support/floor-server.ts";
import { settleDisk } from "./support/folders.ts";
import { addLoads } from "./support/gateway-rows.ts";
import type { LoadClient } from "./support/load-client.ts";
import {
  httpSiteOf,
  type LoadKind,
  type Taker,
  takeTurn,
  type Turn,
  turnsMeasurement,
} from "./support/load-turns.ts";
import type { Measurement } from "./support/measurement.ts";
import { companyCode, type DaemonSite, prepareDaemon, startDaemon } from "./support/sites.ts";
import { stopsOnLoad } from "./sample-json.ts";

const connections = 50;

async function startFilled(home: string, loads: number): Promise<DaemonSite> {
  const prepared = await prepareDaemon(home);
  addLoads(join(prepared.folder, "var"), loads);
  await settleDisk();
  progress(".");
  return await startDaemon(prepared);
}

const details = ["stop", "load"] as const;
type Detail = (typeof details)[number];

/** How many there are of each. */
function countOf(detail: Detail, loads: number): number {
  return detail === "stop" ? loads * stopsOnLoad : loads;
}

/** Asks for as many details as `asked` loads have, spread evenly over the `loads` of the store. */
export function readsOf(
  detail: Detail,
  { loads, asked }: { readonly loads: number; readonly asked: number },
  authorization: string,
): LoadKind {
  return {
    ...{ authorization, connections, method: "GET", body: [] },
    path: [`/v5/${detail}/info/${detail === "stop" ? "S" : "L"}`, `/${companyCode}`],
    pick: { order: "random", count: countOf(detail, asked), step: Math.floor(loads / asked) },
  };
}

interface Sites {
  readonly few: DaemonSite;
  readonly many: DaemonSite;
  /** Over the database of `many`. */
  readonly floor: HttpSite;
}

interface Loads {
  readonly few: number;
  readonly many: number;
}

/** `many`: as many of the full store as the small one has; `all`, like the floor: any of all that it has. */
type Turns = Readonly<Record<keyof Sites | "all", Turn[]>>;

/** One turn each a round, the first of them unmeasured. */
async function takeTurns(
  taker: Taker,
  { few, many, floor }: Sites,
  plan: { readonly detail: Detail; readonly rounds: number; readonly loads: Loads },
): Promise<Turns> {
  const { detail, rounds, loads } = plan;
  const turns: Turns = { few: [], many: [], floor: [], all: [] };
  const asked = loads.few;
  const readFew = readsOf(detail, { loads: loads.few, asked }, few.authorization);
  const readMany = readsOf(detail, { loads: loads.many, asked }, many.authorization);
  const readAll = readsOf(detail, { loads: loads.many, asked: loads.many }, many.authorization);
  for (let round = 0; round <= rounds; round += 1) {
    const taken = {
      few: await takeTurn(taker, httpSiteOf(few), readFew),
      many: await takeTurn(taker, httpSiteOf(many), readMany),
      floor: await takeTurn(taker, floor, readAll),
      all: await takeTurn(taker, httpSiteOf(many), readAll),
    };
    if (round === 0) continue;
    turns.floor.push(taken.floor);
    turns.few.push(taken.few);
    turns.many.push(taken.many);
    turns.all.push(taken.all);
  }
  return turns;
}

function measurementsOf(detail: Detail, { few, many, floor, all }: Turns, loads: Loads): Measurement[] {
  const what = detail === "stop" ? "stop detail" : `load detail with ${stopsOnLoad} stops`;
  const [fewStops, manyStops] = [countOf("stop", loads.few), countOf("stop", loads.many)];
  return [
    // Hardly any of them is asked for twice.
    turnsMeasurement(
      { figure: all, floor },
      {
        what: `${what}, any of ${manyStops} stops, beside a bare server with the same database`,
        wanted: { of: "ratio", is: "at least", limit: 0.85 },
      },
    ),
    turnsMeasurement(
      { figure: many, floor: few },
      {
        what: `${what}, ${manyStops} stops in the store beside ${fewStops}`,
        wanted: { of: "ratio", is: "at least", limit: 0.9 },
      },
    ),
  ];
}

export async function benchReads(
  { rounds, isQuick, home }: BenchOptions,
  client: LoadClient,
): Promise<Measurement[]> {
  const loads = { few: 100, many: isQuick ? 2_000 : 100_000 };
  const few = await startFilled(home, loads.few);
  const many = await startFilled(home, loads.many);
  const floor = await startFloorServer("gateway-read-floor.ts", join(many.folder, "var"));
  const taker = { client, seconds: isQuick ? 1 : 5 };
  try {
    const measurements: Measurement[] = [];
    for (const detail of details) {
      const turns = await takeTurns(taker, { few, many, floor }, { detail, rounds, loads });
      measurements.push(...measurementsOf(detail, turns, loads));
    }
    return measurements;
  } finally {
    await floor.end();
    await many.end();
    await few.end();
  }
}
