/**
 * PostgreSQL beside SQLite: files over ten SFTP connections and route events over fifty connections of HTTP, into daemons
 * that differ in their store alone. Processor time is that of daemon and server together. Then the same over a way to the
 * server that takes 5 ms there and back, where each statement that is waited for by itself costs that much.
 */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { askPostgres, type PostgresServer } from "../test/support/postgres-server.ts";
import { reportsOf } from "./events.ts";
import { connectAll, nameFilesAfter, sendBurst, type Server } from "./steady.ts";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { settleDisk } from "./support/folders.ts";
import { startLoadClient } from "./support/load-client.ts";
import { httpSiteOf, type Taker } from "./support/load-turns.ts";
import { type Measurement, ratiosOf } from "./support/measurement.ts";
import { type PostgresLink, startPostgresLink } from "./support/postgres-link.ts";
import {
  addRoutesToServer,
  referenceTo,
  serverCpuMs,
  startCarefulPostgres,
} from "./support/postgres-store.ts";
import { Receipts } from "./support/receipts.ts";
import { addRoutes } from "./support/route-rows.ts";
import { companyCode, cpuMsOf, type DaemonSite, prepareDaemon, startDaemon } from "./support/sites.ts";

const delayMs = 5;
const mostTimesSqlite = 2.5;
const leastPerSecond = 200;
const stopsOfTurn = 20_000;
const warmUpRounds = 3;

/** Deliveries are another matter. */
const settings = {
  companies: {
    [companyCode]: { outbound: { targets: { later: { type: "folder", completions: "none" } } } },
  },
};

/** A daemon, and what else does its work. */
interface Side {
  readonly daemon: DaemonSite;
  readonly files: Server;
  readonly server?: PostgresServer;
  readonly link?: PostgresLink;
  /** Of its database on the server. */
  readonly url?: string;
}

interface Turn {
  readonly cpuMs: number;
  readonly perSecond: number;
  readonly roundTrips: number;
  readonly statements: number;
}

async function cpuOf({ daemon, server }: Side): Promise<number> {
  return (await cpuMsOf(daemon.process)) + (server === undefined ? 0 : serverCpuMs(server));
}

/** Resolves when nothing is being worked on: what comes later belongs to the turn too. */
async function untilIdle(side: Side): Promise<void> {
  for (let before = -1; ; ) {
    const now = await cpuOf(side);
    if (now - before <= 10) return;
    before = now;
    await wait(200);
  }
}

/** Measures what `send` has done, which gives how many there were and in how many milliseconds. */
async function takeTurn(
  side: Side,
  send: () => Promise<{ readonly count: number; readonly ms: number }>,
): Promise<Turn> {
  await settleDisk();
  await untilIdle(side);
  const nothing = { roundTrips: 0, statements: 0 };
  const [cpuBefore, before] = [await cpuOf(side), (await side.link?.counts()) ?? nothing];
  const { count, ms } = await send();
  await untilIdle(side);
  const after = (await side.link?.counts()) ?? nothing;
  progress(".");
  return {
    cpuMs: ((await cpuOf(side)) - cpuBefore) / count,
    perSecond: (count * 1_000) / ms,
    roundTrips: (after.roundTrips - before.roundTrips) / count,
    statements: (after.statements - before.statements) / count,
  };
}

async function sendFiles({ files }: Side, count: number): Promise<{ count: number; ms: number }> {
  return { count, ms: await sendBurst(files, count) };
}

let turns = 0;

async function sendEvents(
  { daemon }: Side,
  { client, seconds }: Taker,
): Promise<{ count: number; ms: number }> {
  const kind = reportsOf("stop.dropoff.confirmation", 0, daemon.authorization);
  const pick = { order: "ascending", from: turns * stopsOfTurn } as const;
  turns += 1;
  const { port } = httpSiteOf(daemon);
  const { requests, perSecond } = await client.begin({ ...kind, pick, port, warmUpSeconds: 0, seconds })
    .result;
  return { count: requests, ms: (requests * 1_000) / perSecond };
}

type Sides = Record<"sqlite" | "postgres" | "far", Side>;
type Turns = Record<keyof Sides, Turn[]>;

async function compare(
  sides: Sides,
  rounds: number,
  send: (side: Side) => Promise<{ count: number; ms: number }>,
): Promise<Turns> {
  const all: Turns = { sqlite: [], postgres: [], far: [] };
  // Code and caches are warm in a server that runs for months, which knows its tables: the first rounds do not count.
  for (let round = 1 - warmUpRounds; round <= rounds; round += 1) {
    const names = ["sqlite", "postgres", "far"] as const;
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const side = sides[name];
      const turn = await takeTurn(side, () => send(side));
      if (round > 0) all[name].push(turn);
      if (side.url !== undefined) await askPostgres(side.url, "analyze");
    }
  }
  return all;
}

function measurementsOf(what: string, { sqlite, postgres, far }: Turns): Measurement[] {
  const pick = (of: readonly Turn[], name: keyof Turn) => of.map((turn) => turn[name]);
  const [figure, floor] = [pick(postgres, "cpuMs"), pick(sqlite, "cpuMs")];
  const rates = (of: readonly Turn[]) =>
    pick(of, "perSecond")
      .map((value) => value.toFixed(0))
      .join(", ");
  const row = (told: string, name: keyof Turn, unit: string): Measurement => ({
    ...{ suite: "stores", what: `${what}, ${told}`, figure: { values: pick(far, name), unit } },
  });
  return [
    {
      ...{ suite: "stores", what: `${what}, processor time on PostgreSQL beside SQLite` },
      ...{ figure: { values: figure, unit: "ms" }, floor: { values: floor, unit: "ms" } },
      ratios: ratiosOf(figure, floor),
      wanted: { of: "ratio", is: "below", limit: mostTimesSqlite },
      note: `${rates(postgres)} beside ${rates(sqlite)} a second`,
    },
    {
      ...row(`with ${delayMs} ms to the server and back`, "perSecond", "a second"),
      wanted: { of: "figure", is: "at least", limit: leastPerSecond },
    },
    row("statements each", "statements", ""),
    row("round trips each", "roundTrips", ""),
  ];
}

async function startSide(
  home: string,
  rest: { readonly server?: PostgresServer; readonly link?: PostgresLink; readonly routes: number },
): Promise<Side> {
  const { server, link, routes } = rest;
  let store: { readonly store?: string } = {};
  let url: string | undefined;
  if (server !== undefined) {
    url = await server.makeDatabase(link === undefined ? "near" : "far");
    const { port } = new URL(url);
    store = { store: await referenceTo(link === undefined ? url : url.replace(port, String(link.port))) };
  }
  const prepared = await prepareDaemon(home, { ...settings, ...store });
  if (url === undefined) addRoutes(join(prepared.folder, "var"), routes);
  else await addRoutesToServer(url, routes);
  const daemon = await startDaemon(prepared);
  const receipts = new Receipts(daemon.path("receipts"));
  const files = { site: daemon, uploaders: await connectAll(daemon), receipts };
  return { ...rest, ...(url === undefined ? {} : { url }), daemon, files };
}

async function endSide({ daemon, files }: Side): Promise<void> {
  for (const uploader of files.uploaders) uploader.end();
  files.receipts?.close();
  await daemon.end();
}

export async function benchStores({ rounds, isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const server = await startCarefulPostgres();
  const port = Number(new URL(server.urlOf("postgres")).port);
  const link = await startPostgresLink({ port, delayMs });
  const client = startLoadClient();
  const routes = 3 * (rounds + warmUpRounds) * stopsOfTurn;
  const sides: Side[] = [];
  const start = async (rest: { readonly server?: PostgresServer; readonly link?: PostgresLink }) => {
    const side = await startSide(home, { ...rest, routes });
    sides.push(side);
    return side;
  };
  try {
    const all = {
      sqlite: await start({}),
      postgres: await start({ server }),
      far: await start({ server, link }),
    };
    await askPostgres(server.urlOf("postgres"), "checkpoint");
    nameFilesAfter(0);
    const count = isQuick ? 500 : 2_000;
    const files = await compare(all, rounds, (side) => sendFiles(side, count));
    const taker = { client, seconds: isQuick ? 2 : 4 };
    const events = await compare(all, rounds, (side) => sendEvents(side, taker));
    return [...measurementsOf("files", files), ...measurementsOf("events", events)];
  } finally {
    for (const side of sides) await endSide(side);
    client.end();
    await link.end();
    server.stop();
  }
}
