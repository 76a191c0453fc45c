/** Route events into the real daemon, beside one process that writes the same rows behind a bare server. */
import { join } from "node:path";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { startFloorServer } from "./support/floor-server.ts";
import { settleDisk } from "./support/folders.ts";
import { startLoadClient } from "./support/load-client.ts";
import { httpSiteOf, type LoadKind, takeTurn, type Turn, turnsMeasurement } from "./support/load-turns.ts";
import { type Measurement, quantileOf } from "./support/measurement.ts";
import { addRoutes } from "./support/route-rows.ts";
import { companyCode, prepareDaemon, startDaemon } from "./support/sites.ts";
import { numberMark, partsOf } from "./sample-json.ts";

const connections = 50;
/** What is measured is the answer to the driver: files would be written meanwhile that the floor does not write. */
const outboundNowhere = {
  companies: {
    [companyCode]: { outbound: { targets: { later: { type: "folder", completions: "none" } } } },
  },
};
/** More than are reported in one turn: each stop is visited once. */
const stopsOfTurn = 100_000;

const visits = {
  "stop.dropoff.arrival": "arrivals at stops, beside a bare process",
  "stop.dropoff.confirmation": "confirmations that complete stop and load, beside a bare process",
} as const;
type VisitCode = keyof typeof visits;
const codes = Object.keys(visits) as readonly VisitCode[];

/** Reports of stops that no turn before was about. */
export function reportsOf(eventCode: VisitCode, turn: number, authorization: string): LoadKind {
  const body = {
    ...{ eventCode, routeNbr: `R${numberMark}` },
    geoStamp: { eventDTTM: "2026-11-05T09:00:00", eventTz: "America/New_York" },
    stopEventData: { stopNbr: `T${numberMark}` },
  };
  return {
    ...{ authorization, connections, method: "POST" },
    path: [`/v5/event/route/${companyCode}`],
    body: partsOf(body),
    pick: { order: "ascending", from: turn * stopsOfTurn },
  };
}

type VisitTurns = Record<VisitCode, { figure: Turn[]; floor: Turn[] }>;

function measurementsOf(turns: VisitTurns): Measurement[] {
  const wanted = { of: "ratio", is: "at least", limit: 0.5 } as const;
  return codes.map((code) => ({
    ...turnsMeasurement(turns[code], { what: visits[code], wanted }),
    suite: "events",
  }));
}

async function benchVisits({ rounds, isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const client = startLoadClient();
  const [own, bare] = [await prepareDaemon(home, outboundNowhere), await prepareDaemon(home)];
  const turnCount = codes.length * (rounds + 1);
  for (const { folder } of [own, bare]) addRoutes(join(folder, "var"), turnCount * stopsOfTurn);
  await settleDisk();
  const daemon = await startDaemon(own);
  const floor = await startFloorServer("events-floor.ts", join(bare.folder, "var"));
  const taker = { client, seconds: isQuick ? 1 : 3 };
  const turns: VisitTurns = {
    "stop.dropoff.arrival": { figure: [], floor: [] },
    "stop.dropoff.confirmation": { figure: [], floor: [] },
  };
  try {
    for (let turn = 0; turn < turnCount; turn += 1) {
      const code = codes[turn % codes.length] ?? "stop.dropoff.arrival";
      const kind = reportsOf(code, turn, daemon.authorization);
      await settleDisk();
      const beside = await takeTurn(taker, floor, kind);
      await settleDisk();
      const figure = await takeTurn(taker, httpSiteOf(daemon), kind);
      // Code is warm in a server that runs for months: the first round does not count.
      if (turn < codes.length) continue;
      turns[code].floor.push(beside);
      turns[code].figure.push(figure);
    }
  } finally {
    await floor.end();
    await daemon.end();
    client.end();
  }
  return measurementsOf(turns);
}

const positionsPerSecond = 1_000;
const readers = 10;

/** Positions of loads that none before was of, so that for each the times of arrival are worked out. */
function positionsOf(from: number, authorization: string): LoadKind {
  const body = {
    routeNbr: `R${numberMark}`,
    geoStamp: {
      ...{ eventDTTM: "2026-11-05T08:30:00", eventTz: "America/New_York" },
      ...{ latitude: 33.76, longitude: -84.39 },
    },
  };
  return {
    ...{ authorization, connections: 20, pace: positionsPerSecond, method: "POST" },
    path: [`/v5/event/gps/${companyCode}`],
    body: partsOf(body),
    pick: { order: "ascending", from },
  };
}

function stopReads(count: number, authorization: string): LoadKind {
  return {
    ...{ authorization, connections: readers, method: "GET", body: [] },
    path: ["/v5/stop/info/T", `/${companyCode}`],
    pick: { order: "random", count },
  };
}

/** Reads beside a stream of positions. */
async function benchPositions({ rounds, isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const [drivers, host] = [startLoadClient(), startLoadClient()];
  const seconds = isQuick ? 2 : 6;
  const perRound = 2 * positionsPerSecond * seconds;
  const prepared = await prepareDaemon(home, outboundNowhere);
  const count = perRound * (rounds + 1);
  addRoutes(join(prepared.folder, "var"), count);
  await settleDisk();
  const daemon = await startDaemon(prepared);
  const { port } = httpSiteOf(daemon);
  const times = { port, warmUpSeconds: 1, seconds };
  const [p99, rates, reads]: [number[], number[], number[]] = [[], [], []];
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const stream = drivers.begin({ ...positionsOf(round * perRound, daemon.authorization), ...times });
      const read = host.begin({ ...stopReads(count, daemon.authorization), ...times });
      const [streamed, answered] = await Promise.all([stream.result, read.result]);
      progress(".");
      if (round === 0) continue;
      p99.push(quantileOf(Array.from(answered.tookMs), 0.99));
      rates.push(streamed.perSecond);
      reads.push(answered.perSecond);
    }
  } finally {
    await daemon.end();
    drivers.end();
    host.end();
  }
  const shown = (values: readonly number[]) => values.map((value) => value.toFixed(0)).join(", ");
  return [
    {
      ...{ suite: "events", what: "99th percentile of stop details beside a stream of positions" },
      figure: { values: p99, unit: "ms" },
      wanted: { of: "figure", is: "below", limit: 100 },
      note: `${readers} readers, ${shown(reads)} reads/s`,
    },
    {
      ...{ suite: "events", what: `positions taken of ${positionsPerSecond} a second` },
      figure: { values: rates, unit: "positions/s" },
      wanted: { of: "figure", is: "at least", limit: 0.98 * positionsPerSecond },
    },
  ];
}

export async function benchEvents(options: BenchOptions): Promise<Measurement[]> {
  return [...(await benchVisits(options)), ...(await benchPositions(options))];
}
