/**
 * A random walk over imports, assignments, cancellations, route events and positions, on one store and from a fixed
 * seed: whatever comes, states change only as the tables allow (specification/events.md#effects-of-route-events), a
 * refusal changes nothing, and the recorded events, replayed, give the same states.
 */
import { expect, test } from "vitest";
import { type RouteEventCode, routeEventCodes } from "../../src/domain/execution/route-event-rules.ts";
import { normaliseLoad } from "../../src/domain/load/normalise-load.ts";
import type { Load } from "../../src/domain/load/load.ts";
import { applyLoad } from "../../src/operations/loads/apply-load.ts";
import { assignLoadDriver, unassignLoadDriver } from "../../src/operations/loads/assign-load.ts";
import { cancelLoad } from "../../src/operations/loads/cancel-load.ts";
import { amount } from "../support/sampled.ts";
import { codeOf } from "../support/gateway-store.ts";
import { replayEvents, type States } from "../support/replay-events.ts";
import { RouteDriver } from "../support/route-driver.ts";
import { createRandom, kindOf, kinds, type StopKind, stopOf } from "../support/walk-stops.ts";

const steps = amount(1_500, 3_000);
const replayEvery = 500;

/** What may follow each state in one step; the same state always may. */
const loadMoves: Readonly<Record<string, readonly number[]>> = {
  none: [10, 30],
  10: [30, 40, 99],
  30: [10, 40],
  40: [90],
  90: [],
  99: [],
};
const stopMoves: Readonly<Record<string, readonly string[]>> = {
  none: ["10", "20"],
  "10": ["20"],
  "20": ["10", "24", "38", "27", "50", "30", "80", "90"],
  "24": ["27", "30", "38", "80", "90"],
  "27": ["30", "38", "80", "90"],
  "30": ["38", "50", "80", "90"],
  "38": ["50", "80", "90"],
  "50": ["80", "90"],
  "80": ["10", "20"],
  "90": [],
};
const allowedKinds: Readonly<Record<string, readonly StopKind[]>> = {
  "24": ["pickupOnly", "both"],
  "27": ["pickupOnly", "both"],
  "30": ["both"],
  "38": ["both", "dropoff"],
  "50": ["both", "dropoff"],
};

interface Snapshot extends States {
  readonly onLoad: ReadonlyMap<string, string>;
  readonly returning: ReadonlySet<string>;
  readonly events: number;
}

class Walk {
  readonly #route: RouteDriver;
  readonly #random: () => number;
  readonly #active = ["L0", "L1", "L2"];
  readonly taken = new Set<string>();
  readonly seen = new Set<string>();
  #next = 3;
  #minute = 0;
  #last: (() => Promise<void>) | undefined;

  constructor(route: RouteDriver, seed: number) {
    this.#route = route;
    this.#random = createRandom(seed);
  }

  #pick<T>(list: readonly T[]): T {
    const one = list[Math.floor(this.#random() * list.length)];
    if (one === undefined) throw new Error("nothing to pick from");
    return one;
  }

  async snapshot(): Promise<Snapshot> {
    const { read } = this.#route.site.store;
    // In a fixed order: what the walk picks from is to be the same at each run, also where rows come as they lie.
    const loads = await read
      .selectFrom("loads")
      .select(["id", "load_nbr", "load_status", "body"])
      .orderBy("id")
      .execute();
    const stops = await read
      .selectFrom("stops")
      .select(["stop_nbr", "stop_status", "load_id"])
      .orderBy("id")
      .execute();
    const count = await read
      .selectFrom("recorded_events")
      .select((eb) => eb.fn.max("id").as("last"))
      .execute();
    const byId = new Map(loads.map(({ id, load_nbr }) => [id, load_nbr]));
    const returning = loads.filter(({ body }) => body.includes("returnToDepot"));
    return {
      loads: new Map(loads.map((one) => [one.load_nbr, one.load_status])),
      stops: new Map(stops.map((one) => [one.stop_nbr, one.stop_status])),
      onLoad: new Map(
        stops.flatMap((one) => (one.load_id === null ? [] : [[one.stop_nbr, byId.get(one.load_id) ?? ""]])),
      ),
      returning: new Set(returning.map(({ load_nbr }) => load_nbr)),
      events: Number(count[0]?.last ?? 0),
    };
  }

  /** A load that is still to do something; one that is done makes room for the next. */
  #load(now: Snapshot): string {
    const at = Math.floor(this.#random() * this.#active.length);
    const known = this.#active[at] ?? "L0";
    if ((now.loads.get(known) ?? 0) < 90 || this.#random() < 0.2) return known;
    const fresh = `L${this.#next}`;
    this.#next += 1;
    this.#active[at] = fresh;
    return fresh;
  }

  #stopsOn(now: Snapshot, loadNbr: string): readonly string[] {
    return [...now.onLoad].filter(([, load]) => load === loadNbr).map(([stopNbr]) => stopNbr);
  }

  #importLoad(now: Snapshot): () => Promise<void> {
    const loadNbr = this.#load(now);
    const added = Array.from({ length: 3 }, () => `S${Math.floor(this.#random() * 400)}`);
    const kept = this.#stopsOn(now, loadNbr).filter(() => this.#random() < 0.8);
    const stopNbrs = [...new Set([...kept, ...added])];
    const isReturning = now.returning.has(loadNbr) || Number(loadNbr.slice(1)) % 3 === 0;
    const load = normaliseLoad({
      loadHeader: { loadNbr, originAddr1: "Origin", ...(isReturning ? { returnToDepot: "ALWAYS" } : {}) },
      stops: stopNbrs.map((stopNbr) => stopOf(stopNbr)),
      ...(this.#random() < 0.5 ? { loadAssignment: { driverUserName: this.#pick(["ann", "bob"]) } } : {}),
    }) as Load;
    const { site } = this.#route;
    return () =>
      site.store.write("site", (tx) =>
        applyLoad(tx, { companyId: site.companyId, load, path: "loads[0]", now: site.now }),
      );
  }

  #assign(now: Snapshot): () => Promise<void> {
    const { call, at } = this.#route.site;
    const loadNbr = this.#load(now);
    const cancellation = { ...at, body: { loadNbr, reasonCode: "R" } };
    return this.#pick([
      () => call(assignLoadDriver, { ...at, loadNbr, body: { driverUserName: "ann" } }),
      () => call(unassignLoadDriver, { ...at, loadNbr, body: {} }),
      () => call(cancelLoad, cancellation),
    ]);
  }

  #event(now: Snapshot): () => Promise<void> {
    const loadNbr = this.#load(now);
    const on = this.#stopsOn(now, loadNbr);
    const code: RouteEventCode =
      now.loads.get(loadNbr) === 30 ? "route.initiated" : this.#pick(routeEventCodes);
    const isStray = on.length === 0 || this.#random() < 0.05;
    const stopNbr = isStray ? `S${Math.floor(this.#random() * 400)}` : this.#pick(on);
    const stop = code.startsWith("stop.") ? { stopNbr, data: { autoDepart: this.#random() < 0.3 } } : {};
    // Late ones among them: time goes on, but not for all.
    this.#minute += 1;
    const at = this.#random() < 0.1 ? this.#minute - 30 : this.#minute;
    const as = this.#pick(["ann", "bob", "host", "host", "host"]);
    return async () => {
      await this.#route.report(code, { loadNbr, at, as, ...stop });
      this.taken.add(code);
    };
  }

  /** Something to be done, by chance. */
  step(now: Snapshot): () => Promise<void> {
    const { site } = this.#route;
    site.now += Math.floor(this.#random() * 60_000);
    const chance = this.#random();
    if (chance < 0.05 && this.#last !== undefined) return this.#last;
    if (chance < 0.13) return this.#importLoad(now);
    if (chance < 0.18) return () => site.importStops(stopOf(`S${Math.floor(this.#random() * 400)}`));
    if (chance < 0.24) return this.#assign(now);
    const loadNbr = this.#load(now);
    if (chance < 0.32)
      return () => this.#route.position(this.#random() * 30, { loadNbr, as: "host", at: this.#minute });
    this.#last = this.#event(now);
    return this.#last;
  }

  check(before: Snapshot, after: Snapshot): void {
    for (const [loadNbr, status] of after.loads) {
      const was = before.loads.get(loadNbr);
      if (was !== status) expect(loadMoves[was ?? "none"], `load ${loadNbr} from ${was}`).toContain(status);
      this.#checkLoad(after, loadNbr, status);
    }
    for (const [stopNbr, status] of after.stops) {
      this.seen.add(status);
      const was = before.stops.get(stopNbr);
      if (was !== status) expect(stopMoves[was ?? "none"], `stop ${stopNbr} from ${was}`).toContain(status);
      expect(allowedKinds[status] ?? [kindOf(stopNbr)], `stop ${stopNbr} in ${status}`).toContain(
        kindOf(stopNbr),
      );
      const load = after.loads.get(after.onLoad.get(stopNbr) ?? "");
      if (status === "20") expect([10, 30, 40]).toContain(load);
      if (status > "20" && status < "80") expect(load).toBe(40);
      if (status === "10") expect(load).toBeUndefined();
    }
  }

  #checkLoad(after: Snapshot, loadNbr: string, status: number): void {
    const states = this.#stopsOn(after, loadNbr).map((stopNbr) => after.stops.get(stopNbr) ?? "");
    if (status < 40) expect(states.filter((state) => state !== "20")).toEqual([]);
    const open = states.filter((state) => state < "80").length;
    if (status === 90) expect(open).toBe(0);
    if (status === 40 && states.length > 0 && !after.returning.has(loadNbr)) expect(open).toBeGreaterThan(0);
  }
}

const refusals = new Set([
  ...["eventOutOfSequence", "stopNotOnRoute", "driverRequired", "roleMissing", "loadNotFound"],
  ...["stopInTransit", "finalState", "notAssigned", "loadHasDriver"],
]);

test.each([20_261_105, 7])(
  `${steps} steps from seed %i never reach a state that the tables do not allow, and replay to the same states`,
  { timeout: 300_000 },
  async (seed) => {
    const route = await RouteDriver.open();
    const walk = new Walk(route, seed);
    let before = await walk.snapshot();
    for (let step = 1; step <= steps; step += 1) {
      const outcome = await codeOf(walk.step(before)());
      const after = await walk.snapshot();
      if (outcome !== "done") {
        expect(refusals, `step ${step}: ${outcome}`).toContain(outcome);
        expect(after).toEqual(before);
      }
      walk.check(before, after);
      before = after;
      if (step % replayEvery !== 0) continue;
      const replayed = await replayEvents(route.site.store, kinds);
      const unplanned = [...after.stops].filter(
        ([nbr, status]) => status === "10" && !replayed.stops.has(nbr),
      );
      expect(new Map([...replayed.stops, ...unplanned])).toEqual(after.stops);
      expect(replayed.loads).toEqual(after.loads);
    }
    // A walk that never got anywhere would prove nothing.
    expect([...walk.taken].toSorted()).toEqual([...routeEventCodes].toSorted());
    expect([...walk.seen].toSorted()).toEqual(["10", "20", "24", "27", "30", "38", "50", "80", "90"]);
    expect([...before.loads.values()].filter((status) => status === 90).length).toBeGreaterThan(
      amount(3, 10),
    );
  },
);
