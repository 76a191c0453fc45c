/** From the start of the process to "ready", with a ledger of years, beside one that is empty. */
import { join } from "node:path";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { addAppliedRows } from "./support/ledger-rows.ts";
import { settleDisk } from "./support/folders.ts";
import { type Measurement, ratiosOf } from "./support/measurement.ts";
import { endProcess, type Prepared, prepareDaemon, startDaemon } from "./support/sites.ts";

async function readyMsOf(prepared: Prepared): Promise<number> {
  const daemon = await startDaemon(prepared);
  await endProcess(daemon.process);
  progress(".");
  return daemon.readyMs;
}

export async function benchStart({ rounds, isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const rows = isQuick ? 50_000 : 1_000_000;
  const full = await prepareDaemon(home);
  const empty = await prepareDaemon(home);
  addAppliedRows(join(full.folder, "var"), rows);
  await settleDisk();
  const [figure, floor]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    figure.push(await readyMsOf(full));
    floor.push(await readyMsOf(empty));
  }
  return [
    {
      suite: "start",
      what: `ready with ${rows} ledger entries, beside none`,
      figure: { values: figure, unit: "ms" },
      floor: { values: floor, unit: "ms" },
      ratios: ratiosOf(figure, floor),
      wanted: { of: "figure", is: "below", limit: 1_500 },
    },
  ];
}
