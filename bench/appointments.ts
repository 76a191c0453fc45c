/**
 * Listing the time slots of 14 days, 24 windows each, over HTTP: in regions with 100,000 reservations, beside one of the
 * same daemon that has none.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { addReservations, hourlyKeys } from "./support/appointment-rows.ts";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { settleDisk } from "./support/folders.ts";
import { type Measurement, medianOf, quantileOf, ratiosOf } from "./support/measurement.ts";
import { companyCode, type DaemonSite, prepareDaemon, startDaemon } from "./support/sites.ts";

const horizonDays = 14;
const reservations = 100_000;
const fillings = { orders: 0, mixed: 30, holds: 100 } as const;
type Filling = keyof typeof fillings;
const names = Object.keys(fillings) as readonly Filling[];
/** Without reservations. */
const empty = "none";

const twoDigits = (hour: number) => String(hour).padStart(2, "0");

function regionOf(name: string) {
  const windows = Array.from({ length: 24 }, (_, hour) => ({
    ...{ from: `${twoDigits(hour)}:00`, to: `${twoDigits(hour + 1)}:00` },
    capacity: { appointments: 1_000_000, quantity: 1_000_000, weight: 10_000_000 },
  }));
  return { name, zone: "America/New_York", countries: [name], windows };
}

async function startFilled(home: string): Promise<DaemonSite> {
  const prepared = await prepareDaemon(home);
  const file = join(prepared.folder, "dropgate.yaml");
  const config: unknown = JSON.parse(await readFile(file, "utf8"));
  const appointments = { horizonDays, regions: [...names, empty].map(regionOf) };
  await writeFile(
    file,
    JSON.stringify({ ...Object(config), companies: { [companyCode]: { appointments } } }),
  );
  const expiresAt = Date.now() + 3_600_000;
  for (const region of names) {
    const holdsPercent = fillings[region];
    const slotKeys = hourlyKeys(horizonDays);
    addReservations(join(prepared.folder, "var"), {
      ...{ region, count: reservations, holdsPercent, expiresAt, slotKeys },
    });
    progress(".");
  }
  await settleDisk();
  return await startDaemon(prepared);
}

/** How long each of so many listings took, one after another. */
async function listingMs(daemon: DaemonSite, country: string, times: number): Promise<readonly number[]> {
  const headers = { authorization: daemon.authorization, "content-type": "application/json" };
  const body = JSON.stringify({ apptRequest: { country, quantity: 2, weight: 12.5 } });
  const url = `${daemon.http}/v5/appointment/slots/${companyCode}`;
  const took: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const startedAt = performance.now();
    const answer = await fetch(url, { method: "POST", headers, body });
    const text = await answer.text();
    took.push(performance.now() - startedAt);
    const slots = text.split("timeSlotId").length - 1;
    if (answer.status !== 200 || slots < horizonDays * 24)
      throw new Error(`${answer.status} with ${slots} slots: ${text.slice(0, 200)}`);
  }
  return took;
}

type Rounds = Readonly<Record<Filling | typeof empty, number[][]>>;

function measurementsOf(rounds: Rounds): Measurement[] {
  const p99 = (values: readonly number[]) => quantileOf(values, 0.99);
  const wanted = { of: "figure", is: "below", limit: 20 } as const;
  return names.flatMap((name) => {
    const kind = `listing ${horizonDays} days, ${reservations} reservations (${fillings[name]} % holds)`;
    const measured = (what: string, of: (values: readonly number[]) => number) => {
      const [figure, floor] = [rounds[name].map(of), rounds[empty].map(of)];
      return {
        ...{ suite: "appointments", what: `${kind}, ${what}`, ratios: ratiosOf(figure, floor) },
        ...{ figure: { values: figure, unit: "ms" }, floor: { values: floor, unit: "ms" } },
      };
    };
    return [{ ...measured("median", medianOf), wanted }, measured("99th percentile", p99)];
  });
}

export async function benchAppointments({ rounds, isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const daemon = await startFilled(home);
  const times = isQuick ? 20 : 200;
  const all: Rounds = { orders: [], mixed: [], holds: [], none: [] };
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const name of [empty, ...names] as const) {
        const took = await listingMs(daemon, name, times);
        // The first round warms up.
        if (round > 0) all[name].push([...took]);
      }
      progress(".");
    }
    return measurementsOf(all);
  } finally {
    await daemon.end();
  }
}
