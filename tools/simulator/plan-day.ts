/** Plans a whole day of loads. The same options give the same plan, byte for byte; load 7 is the same among 10 and among 1,000. */
import { normaliseDate } from "../../src/domain/time/local-time.ts";
import type { DayOptions, DayPlan, LoadPlan, PlannedImport } from "./day-plan.ts";
import { maxLoads, maxSeed, maxStops } from "./day-plan.ts";
import type { Assignment } from "./journey.ts";
import { planWork } from "./plan-load.ts";
import { planTimeline } from "./plan-timeline.ts";
import { createRandom, type Random } from "./random.ts";

/** Loads of one import; far below what the gateway takes. */
const loadsOfImport = 50;

/** What has to be said; all else has a standard. */
export type DayWishes = Pick<DayOptions, "companyCode" | "date" | "drivers"> & Partial<DayOptions>;

/** Such as `S1-261121`: so that days and seeds have numbers of their own. */
export function standardPrefix(seed: number, date: string): string {
  return `S${seed}-${date.slice(2).replaceAll("-", "")}`;
}

function checkWhole(name: string, value: number, [least, greatest]: readonly [number, number]): void {
  if (Number.isInteger(value) && value >= least && value <= greatest) return;
  throw new RangeError(`${name} is ${value}: give a whole number from ${least} to ${greatest}`);
}

function check({ seed, loads, stops, gpsSeconds, prefix, date }: DayOptions): void {
  checkWhole("seed", seed, [0, maxSeed]);
  checkWhole("loads", loads, [1, maxLoads]);
  checkWhole("stops", stops, [1, maxStops]);
  checkWhole("gpsSeconds", gpsSeconds, [0, 86_400]);
  if (!/^[A-Za-z0-9_-]{1,12}$/.test(prefix))
    throw new RangeError(`prefix is ${prefix}: give 1 to 12 letters, digits, _ or -`);
  if (normaliseDate(date) !== date) throw new RangeError(`date is ${date}: give a day as YYYY-MM-DD`);
}

/** The options of the day with the standard for each that is not given. Throws a RangeError for one that cannot be. */
export function dayOptions(wishes: DayWishes): DayOptions {
  const { seed = 1, date } = wishes;
  const standard = { loads: 20, stops: 8, gpsSeconds: 120, driversReport: false, faults: false };
  const options = { ...standard, prefix: standardPrefix(seed, date), ...wishes, seed };
  check(options);
  return options;
}

function assignmentOf({ driversReport }: DayOptions, random: Random): Assignment {
  const dice = random.next();
  if (dice < 0.4) return "import";
  return driversReport && dice > 0.8 ? "claim" : "request";
}

interface DrawnLoad {
  readonly plan: LoadPlan;
  readonly document: object;
}

function drawLoad(options: DayOptions, index: number): DrawnLoad {
  const random = createRandom(options.seed, index);
  const work = planWork(options, index, random);
  const driver = options.drivers[index % options.drivers.length] ?? options.drivers[0];
  const assignment = assignmentOf(options, random);
  const document = {
    loadHeader: work.header,
    stops: work.stops.map(({ stop }) => stop),
    ...(assignment === "import" ? { loadAssignment: { driverUserName: driver } } : {}),
  };
  return { document, plan: planTimeline({ options, work, driver, assignment, random }) };
}

function importOf({ companyCode }: DayOptions, loads: readonly DrawnLoad[], at: number): PlannedImport {
  return {
    loadNbrs: loads.map(({ plan }) => plan.loadNbr),
    request: {
      kind: "loadImport",
      at,
      sender: undefined,
      path: "/v5/load/update/default",
      body: JSON.stringify({ companyCode, loads: loads.map(({ document }) => document) }),
      refusal: undefined,
      isRepeat: false,
    },
  };
}

function startOf({ requests }: LoadPlan): number {
  return requests[0]?.at ?? 0;
}

/** The plan of the day. Throws a RangeError for options that cannot be. */
export function planDay(wishes: DayWishes): DayPlan {
  const options = dayOptions(wishes);
  const drawn = Array.from({ length: options.loads }, (_, index) => drawLoad(options, index));
  const firstAt = Math.min(...drawn.map(({ plan }) => startOf(plan)));
  const imports = Array.from({ length: Math.ceil(drawn.length / loadsOfImport) }, (_, at) =>
    importOf(options, drawn.slice(at * loadsOfImport, (at + 1) * loadsOfImport), firstAt),
  );
  const loads = drawn.map(({ plan }) => plan).sort((one, other) => startOf(one) - startOf(other));
  return { options, imports, loads };
}
