/** Imports of one stop each into the real daemon, beside one process that does the least that must be done. */
import type { BenchOptions } from "./support/bench-options.ts";
import { startFloorServer } from "./support/floor-server.ts";
import { newFolder, settleDisk } from "./support/folders.ts";
import type { LoadClient } from "./support/load-client.ts";
import { httpSiteOf, type LoadKind, takeTurn, type Turn, turnsMeasurement } from "./support/load-turns.ts";
import type { Measurement } from "./support/measurement.ts";
import { companyCode, prepareDaemon, startDaemon } from "./support/sites.ts";
import { jsonStop, numberMark, partsOf, products } from "./sample-json.ts";

const connections = 50;
/** More than are sent in one turn: no stop is sent twice. */
const numbersOfTurn = 1_000_000;

/** Sends stops that no turn before has sent. */
function writesOf(round: number, authorization: string): LoadKind {
  const stop = jsonStop(`P${numberMark}`, products.large);
  return {
    ...{ authorization, connections, method: "POST" },
    path: [`/v5/stop/update/default/${companyCode}`],
    body: partsOf({ companyCode, stops: [stop] }),
    pick: { order: "ascending", from: round * numbersOfTurn },
  };
}

export async function benchWrites(
  { rounds, isQuick, home }: BenchOptions,
  client: LoadClient,
): Promise<Measurement[]> {
  const daemon = await startDaemon(await prepareDaemon(home));
  const floor = await startFloorServer("gateway-write-floor.ts", await newFolder("write-floor"));
  const taker = { client, seconds: isQuick ? 1 : 5 };
  const turns: { figure: Turn[]; floor: Turn[] } = { figure: [], floor: [] };
  try {
    // Code is warm in a server that runs for months: the first round does not count.
    for (let round = 0; round <= rounds; round += 1) {
      const kind = writesOf(round, daemon.authorization);
      await settleDisk();
      const beside = await takeTurn(taker, floor, kind);
      await settleDisk();
      const own = await takeTurn(taker, httpSiteOf(daemon), kind);
      if (round === 0) continue;
      turns.floor.push(beside);
      turns.figure.push(own);
    }
  } finally {
    await floor.end();
    await daemon.end();
  }
  const what = "imports of one stop of 4 KB, beside a bare process";
  return [turnsMeasurement(turns, { what, wanted: { of: "ratio", is: "at least", limit: 0.5 } })];
}
