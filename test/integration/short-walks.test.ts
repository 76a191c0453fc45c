/**
 * Thousands of short random walks (test/support/short-walk.ts), many at a time on one store: after each step the states
 * have changed as the tables allow (specification/stop-states.md#imports-of-a-stop) and a refusal has changed nothing;
 * after all of them the recorded events, replayed, give the states that are there. A failure tells the seed and the
 * steps of its walk.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDocumentPool } from "../../src/documents/pool/document-pool.ts";
import { mapConcurrently } from "../../src/lib/concurrency.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { regionOf, settingsOf } from "../support/appointment-settings.ts";
import { replayEvents } from "../support/replay-events.ts";
import { RouteDriver } from "../support/route-driver.ts";
import { amount } from "../support/sampled.ts";
import { ShortWalk, type WalkStates } from "../support/short-walk.ts";
import { checkKept } from "../support/walk-invariants.ts";
import { kindOf, kinds, type StopKind, stopTime } from "../support/walk-stops.ts";

const walks = amount(600, 2_000);
/** `DROPGATE_WALK_SEED` draws other walks; one that failed is drawn again by its own seed. */
const firstSeed = Number(process.env["DROPGATE_WALK_SEED"] ?? 1);
const atOnce = 64;

const documents = createDocumentPool({ log: createLogger({ level: "silent" }), threads: 1 });
const never = new AbortController().signal;

beforeAll(() => documents.start(never));
afterAll(() => documents.stop(never));

/** What may follow each state in one step; the same state always may. */
const loadMoves: Readonly<Record<string, readonly number[]>> = {
  none: [10, 20, 30],
  10: [20, 30, 40, 99],
  20: [10, 30, 40, 99],
  30: [10, 20, 40],
  40: [90],
  90: [],
  99: [],
};
const visited = ["27", "30", "38", "50", "80", "90"];
const stopMoves: Readonly<Record<string, readonly string[]>> = {
  none: ["00", "05", "10", "20"],
  "00": ["05", "10", "20", "99"],
  "05": ["10", "20", "99"],
  "10": ["05", "20", "99"],
  "20": ["10", "24", "99", ...visited],
  "24": [...visited, "99"],
  "27": ["30", "38", "80", "90", "99"],
  "30": ["38", "50", "80", "90", "99"],
  "38": ["50", "80", "90", "99"],
  "50": ["80", "90", "99"],
  "80": ["10", "20", "99"],
  "90": ["99"],
  "99": ["00", "05", "10", "20"],
};
const allowedKinds: Readonly<Record<string, readonly StopKind[]>> = {
  "24": ["pickupOnly", "both"],
  "27": ["pickupOnly", "both"],
  "30": ["both"],
  "38": ["both", "dropoff"],
  "50": ["both", "dropoff"],
};
const refusals = new Set([
  ...["eventOutOfSequence", "stopNotOnRoute", "driverRequired", "roleMissing", "loadNotFound", "finalState"],
  ...["stopInTransit", "notAssigned", "loadHasDriver", "stopNotFound", "stopNotOpen", "stopNotAsn"],
  ...["orderNotFound", "orderNotDeletable", "partnerNotFound"],
]);

const isOpen = (status: string): boolean => status < "20";

/** The states after so many moves, or fewer. */
function statesAfter(state: string, moves: number): ReadonlySet<string> {
  const states = new Set([state]);
  for (let move = 0; move < moves; move += 1)
    for (const known of [...states]) for (const next of stopMoves[known] ?? []) states.add(next);
  return states;
}

function checkStops(before: WalkStates, after: WalkStates, moves: number): void {
  for (const [stopNbr, { status, loadNbr }] of after.stops) {
    const was = before.stops.get(stopNbr)?.status;
    expect(statesAfter(was ?? "none", moves), `stop ${stopNbr} from ${was}`).toContain(status);
    const kind = kindOf(stopNbr);
    expect(allowedKinds[status] ?? [kind], `stop ${stopNbr} in ${status}`).toContain(kind);
    const load = loadNbr === null ? undefined : after.loads.get(loadNbr);
    if (isOpen(status) || status === "99") expect(loadNbr, `load of ${stopNbr} in ${status}`).toBe(null);
    if (status === "20") expect([10, 20, 30, 40], `load of ${stopNbr}`).toContain(load);
    if (status > "20" && status < "80") expect(load, `load of ${stopNbr} in ${status}`).toBe(40);
  }
  for (const stopNbr of before.stops.keys()) expect(after.stops.has(stopNbr), stopNbr).toBe(true);
}

function noteCreatedAnew({ createdAnew }: ShortWalk, before: WalkStates, after: WalkStates): void {
  for (const [stopNbr, { status }] of after.stops) {
    if (status === "99") createdAnew.delete(stopNbr);
    else if (before.stops.get(stopNbr)?.status === "99") createdAnew.add(stopNbr);
  }
}

function checkLoads(before: WalkStates, after: WalkStates): void {
  for (const [loadNbr, status] of after.loads) {
    const was = before.loads.get(loadNbr);
    if (was !== status) expect(loadMoves[was ?? "none"], `load ${loadNbr} from ${was}`).toContain(status);
    const states = [...after.stops.values()].filter((stop) => stop.loadNbr === loadNbr);
    const open = states.filter((stop) => stop.status < "80").length;
    if (status < 40) expect(states.filter((stop) => stop.status !== "20")).toEqual([]);
    if (status === 90) expect(open, `open stops of ${loadNbr}`).toBe(0);
    const mustReturn = loadNbr.endsWith("1");
    if (status === 40 && states.length > 0 && !mustReturn)
      expect(open, `open stops of ${loadNbr}`).toBeGreaterThan(0);
  }
}

interface Seen {
  readonly outcomes: Set<string>;
  readonly states: Set<string>;
}

async function run(walk: ShortWalk, seen: Seen): Promise<WalkStates> {
  let before = await walk.states();
  for (let step = 0; step < walk.length; step += 1) {
    const { outcome, moves } = await walk.step(before);
    const after = await walk.states();
    seen.outcomes.add(outcome);
    for (const { status } of after.stops.values()) seen.states.add(status);
    if (outcome !== "done") {
      expect(refusals, outcome).toContain(outcome);
      expect(after).toEqual(before);
    }
    checkStops(before, after, moves);
    checkLoads(before, after);
    noteCreatedAnew(walk, before, after);
    before = after;
  }
  return before;
}

/** With the seed and the steps of the walk when it fails. */
async function told<T>(walk: ShortWalk, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`the walk ${walk.name}:\n${walk.trace.join("\n")}`, { cause: error });
  }
}

test(`${walks} walks of 5 to 40 steps keep to the tables, and replay to the same states`, {
  timeout: 600_000,
}, async () => {
  const route = await RouteDriver.open();
  await route.site.addPartner("C1");
  const room = regionOf({ appointments: 1_000_000 });
  route.site.appointmentSettings = settingsOf([room], { horizonDays: 1 });
  const seen: Seen = { outcomes: new Set(), states: new Set() };
  const seeds = Array.from({ length: walks }, (_, index) => firstSeed + index);
  const ended = await mapConcurrently(seeds, atOnce, async (seed) => {
    const walk = new ShortWalk({ route, documents }, seed);
    return { walk, states: await told(walk, () => run(walk, seen)) };
  });
  const replayed = await replayEvents(route.site.store, kinds);
  for (const { walk, states } of ended) {
    await told(walk, () => {
      // That a carrier was assigned is not recorded.
      for (const [loadNbr, status] of states.loads)
        expect(replayed.loads.get(loadNbr), loadNbr).toBe(status === 20 ? 10 : status);
      for (const [stopNbr, { status }] of states.stops) {
        const told = replayed.stops.get(stopNbr) ?? "10";
        if (told === "99" && walk.createdAnew.has(stopNbr)) expect(isOpen(status), stopNbr).toBe(true);
        else
          expect(isOpen(told) ? isOpen(status) : told === status, `${stopNbr}: ${told}, ${status}`).toBe(
            true,
          );
      }
    });
  }
  const kept = await checkKept(route.site.store, stopTime);
  // Walks that never got anywhere would prove nothing.
  expect(Math.min(kept.reordered, kept.documents, kept.appointments)).toBeGreaterThan(50);
  expect([...seen.outcomes].toSorted()).toEqual(["done", ...refusals].toSorted());
  expect([...seen.states].toSorted()).toEqual(
    Object.keys(stopMoves)
      .filter((state) => state !== "none")
      .toSorted(),
  );
});
