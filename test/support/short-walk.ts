/**
 * A short random walk over a few loads and stops of its own, by all the ways in which states change: XML stop orders as the
 * web service takes them, imports of stops, ASNs, orders and loads, carriers, drivers, deletions, route events, positions.
 */
import type { DocumentPool } from "../../src/documents/pool/document-pool.ts";
import { normaliseLoad } from "../../src/domain/load/normalise-load.ts";
import type { Load } from "../../src/domain/load/load.ts";
import { type RouteEventCode, routeEventCodes } from "../../src/domain/execution/route-event-rules.ts";
import { submitStopDocument } from "../../src/inbound/submit-stop-document.ts";
import { applyLoad } from "../../src/operations/loads/apply-load.ts";
import { prepareQuery } from "../../src/store/database/prepared-query.ts";
import { listTimeSlots } from "../../src/operations/appointments/list-time-slots.ts";
import { reserveTimeSlot } from "../../src/operations/appointments/reserve-time-slot.ts";
import { importOrders } from "../../src/operations/imports/import-orders.ts";
import {
  assignLoadCarrier,
  assignLoadDriver,
  unassignLoadCarrier,
  unassignLoadDriver,
} from "../../src/operations/loads/assign-load.ts";
import { cancelLoad } from "../../src/operations/loads/cancel-load.ts";
import { rejectOrder } from "../../src/operations/orders/reject-order.ts";
import { rejectAsn, rejectStop } from "../../src/operations/stops/reject-stop.ts";
import { assignStopCarrier, unassignStopCarrier } from "../../src/operations/stops/stop-carrier.ts";
import { codeOf } from "./gateway-store.ts";
import type { Report, RouteDriver } from "./route-driver.ts";
import { createRandom, kindOf, stopOf, stopTime } from "./walk-stops.ts";

/** What the walk's own loads and stops are like. */
export interface WalkStates {
  readonly loads: ReadonlyMap<string, number>;
  readonly stops: ReadonlyMap<string, { readonly status: string; readonly loadNbr: string | null }>;
}

interface Step {
  readonly what: string;
  /** How often one stop may be changed by it: a document may name a stop several times. */
  readonly moves?: number;
  /** Stops that it deletes and creates again. */
  readonly anew?: readonly string[];
  /** Gives "done", or the name of the refusal. */
  readonly run: () => Promise<string>;
}

interface Instruction {
  readonly stopNbr: string;
  /** `01`, `02` or `03`. */
  readonly code: string;
  readonly what: string;
  readonly xml: string;
}

export interface WalkWorld {
  readonly route: RouteDriver;
  readonly documents: Pick<DocumentPool, "prepareBytes">;
}

interface RangeArguments {
  readonly companyId: number;
  readonly first: string;
  readonly behind: string;
}

interface LoadRow {
  readonly id: number;
  readonly load_nbr: string;
  readonly load_status: number;
}

const loadsQuery = prepareQuery<RangeArguments, LoadRow>((db, arg) =>
  db
    .selectFrom("loads")
    .select(["id", "load_nbr", "load_status"])
    .where("company_id", "=", arg("companyId"))
    .where("load_nbr", ">=", arg("first"))
    .where("load_nbr", "<", arg("behind"))
    .orderBy("load_nbr"),
);

interface StopRow {
  readonly stop_nbr: string;
  readonly stop_status: string;
  readonly load_id: number | null;
}

const stopsQuery = prepareQuery<RangeArguments, StopRow>((db, arg) =>
  db
    .selectFrom("stops")
    .select(["stop_nbr", "stop_status", "load_id"])
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", ">=", arg("first"))
    .where("stop_nbr", "<", arg("behind"))
    .orderBy("stop_nbr"),
);

const stopCount = 6;
const loadCount = 2;

function element(name: string, value: string): string {
  return `<${name}>${value}</${name}>`;
}

/** The same address as `stopOf` gives, so that the stop has the same visits. */
function addressXml(stopNbr: string, hasWindow: boolean): string {
  const kind = kindOf(stopNbr);
  const from = element("ShipFromAddr1", `Street of ${stopNbr}`);
  const to = element("ShipToAddr1", `Place of ${stopNbr}`);
  const window = hasWindow ? element("EarliestStartDTTM", stopTime) : "";
  if (kind === "pickupOnly") return `${element("StopType", "PU")}${from}${window}`;
  return `${kind === "both" ? from : ""}${to}${window}`;
}

export class ShortWalk {
  readonly trace: string[] = [];
  readonly name: string;
  readonly length: number;
  readonly #world: WalkWorld;
  readonly #random: () => number;
  /** Stops that were deleted and have been created anew since: nothing is recorded of that. */
  readonly createdAnew = new Set<string>();
  #minute = 0;
  #last: Step | undefined;
  #lastEvent: { readonly code: RouteEventCode; readonly report: Report } | undefined;

  constructor(world: WalkWorld, seed: number) {
    this.#world = world;
    this.#random = createRandom(seed);
    this.name = `W${seed}`;
    // From 5 to 40 steps, most of them short.
    this.length = 5 + Math.floor(this.#random() ** 3 * 36);
  }

  async states(): Promise<WalkStates> {
    const { read } = this.#world.route.site.store;
    const [first, behind] = [`${this.name}L`, `${this.name}T`];
    const range = { companyId: this.#companyId, first, behind };
    const { rows: loads } = await loadsQuery.run(read, range);
    const { rows: stops } = await stopsQuery.run(read, range);
    const loadNbrs = new Map(loads.map(({ id, load_nbr }) => [id, load_nbr]));
    return {
      loads: new Map(loads.map((row) => [row.load_nbr, row.load_status])),
      stops: new Map(
        stops.map(({ stop_nbr, stop_status: status, load_id: id }) => {
          const loadNbr = id === null ? null : (loadNbrs.get(id) ?? "a load of others");
          return [stop_nbr, { status, loadNbr }];
        }),
      ),
    };
  }

  /** Does something by chance, and gives what came of it, and how many moves of a stop that may be. */
  async step(now: WalkStates): Promise<{ readonly outcome: string; readonly moves: number }> {
    const { site } = this.#world.route;
    site.now += 1_000;
    const isAgain = this.#last !== undefined && this.#chance(0.04);
    const step = isAgain && this.#last !== undefined ? this.#last : this.#choose(now);
    this.#last = step;
    this.trace.push(step.what);
    const outcome = await step.run();
    this.trace.push(`  ${outcome}`);
    if (outcome === "done") for (const stopNbr of step.anew ?? []) this.createdAnew.add(stopNbr);
    return { outcome, moves: step.moves ?? 1 };
  }

  get #companyId(): number {
    return this.#world.route.site.companyId;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #pick<T>(list: readonly T[]): T {
    const one = list[Math.floor(this.#random() * list.length)];
    if (one === undefined) throw new Error("nothing to pick from");
    return one;
  }

  #stop(): string {
    return `${this.name}S${Math.floor(this.#random() * stopCount)}`;
  }

  #load(): string {
    return `${this.name}L${Math.floor(this.#random() * loadCount)}`;
  }

  #choose(now: WalkStates): Step {
    const ways: readonly (readonly [weight: number, way: () => Step])[] = [
      [20, () => this.#xml()],
      [14, () => this.#import()],
      [12, () => this.#importLoad(now)],
      [10, () => this.#assign()],
      [7, () => this.#delete()],
      [34, () => this.#event(now)],
      [3, () => this.#position()],
      [4, () => this.#reserve()],
    ];
    let left = this.#random() * ways.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, way] of ways) {
      left -= weight;
      if (left < 0) return way();
    }
    return this.#position();
  }

  #instruction(): Instruction {
    const [stopNbr, code] = [this.#stop(), this.#pick(["01", "01", "02", "03"])];
    const head = `${element("StopNbr", stopNbr)}${element("Function", code)}`;
    if (code === "02") return { stopNbr, code, what: `02 ${stopNbr}`, xml: `<Stop>${head}</Stop>` };
    const carrier = this.#pick(["C1", "C1", "", "unknown"]);
    const assignment = code === "03" ? element("StopAssignment", element("CarrierCode", carrier)) : "";
    const hasWindow = this.#chance(0.7);
    const sequence = Object.values(this.#sequence())
      .map((value) => element("StopSeq", String(value)))
      .join("");
    return {
      ...{ stopNbr, code },
      what: `${code} ${stopNbr} ${sequence} ${hasWindow ? "window" : ""} ${code === "03" ? carrier : ""}`,
      xml: `<Stop>${head}${sequence}${addressXml(stopNbr, hasWindow)}${assignment}</Stop>`,
    };
  }

  /** One to three stop orders in a document, which is all or nothing. */
  #xml(): Step {
    const { route, documents } = this.#world;
    const { store, companyId, now } = route.site;
    const orders = Array.from({ length: 1 + Math.floor(this.#random() ** 2 * 3) }, () => this.#instruction());
    const bytes = Buffer.from(element("Stops", orders.map(({ xml }) => xml).join("")));
    const submission = { companyId, companyCode: "ACME", bytes, userName: "host", requestId: "r" };
    return {
      moves: orders.length,
      anew: orders.flatMap(({ stopNbr, code }, at) => {
        const before = orders.slice(0, at).findLast((one) => one.stopNbr === stopNbr);
        return code !== "02" && before?.code === "02" ? [stopNbr] : [];
      }),
      what: `xml ${orders.map(({ what }) => what).join(", ")}`,
      run: async () => {
        const deps = { store, documents, clock: { now: () => now } };
        const { status, mappedCode } = await submitStopDocument(deps, submission);
        return status === 10 ? "done" : (mappedCode ?? "refused without a reason");
      },
    };
  }

  #import(): Step {
    const { site } = this.#world.route;
    const [stopNbr, kind] = [this.#stop(), this.#pick(["stop", "stop", "asn", "order"])];
    const stop = { ...stopOf(stopNbr, this.#chance(0.7)), ...this.#sequence() };
    const what = `${kind} ${JSON.stringify(stop)}`;
    if (kind === "stop") return { what, run: () => codeOf(site.importStops(stop)) };
    if (kind === "asn") return { what, run: () => codeOf(site.importAsns(stop)) };
    const { stopNbr: orderNbr, ...rest } = { stopNbr, ...stop };
    const body = { companyCode: "ACME", orders: [{ orderNbr, ...rest }] };
    return {
      what,
      run: () => codeOf(site.call(importOrders, { ...site.at, serviceName: "default", body })),
    };
  }

  #importLoad(now: WalkStates): Step {
    const { site } = this.#world.route;
    const loadNbr = this.#load();
    const kept = [...now.stops].filter(([, stop]) => stop.loadNbr === loadNbr && this.#chance(0.8));
    const stopNbrs = [...new Set([...kept.map(([nbr]) => nbr), this.#stop(), this.#stop()])];
    const assignment = this.#pick([null, null, {}, { driverUserName: "ann" }, { carrierCode: "C1" }]);
    const load = normaliseLoad({
      loadHeader: {
        loadNbr,
        originAddr1: "Origin",
        ...(loadNbr.endsWith("1") ? { returnToDepot: "ALWAYS" } : {}),
      },
      stops: stopNbrs.map((stopNbr) => this.#listed(now, stopNbr)),
      ...(assignment === null ? {} : { loadAssignment: assignment }),
    }) as Load;
    const change = { companyId: site.companyId, load, path: "loads[0]", now: site.now };
    return {
      what: `load ${loadNbr} of ${JSON.stringify(load.stops)}, ${JSON.stringify(assignment)}`,
      run: () => codeOf(site.store.write("site", (tx) => applyLoad(tx, change))),
    };
  }

  /** Mostly a number, so that many loads have an order of their own; some the same, some none. */
  #sequence(): object {
    return this.#chance(0.8) ? { stopSeq: this.#pick([1, 2, "3", 4, "05", 6.5, "last"]) } : {};
  }

  /** An entry of a load import; of a stop that is there now and then the number alone. */
  #listed(now: WalkStates, stopNbr: string): object {
    const { status = "99" } = now.stops.get(stopNbr) ?? {};
    const isNumberAlone = status !== "99" && this.#chance(0.3);
    const content = isNumberAlone ? { stopNbr } : stopOf(stopNbr, this.#chance(0.8));
    return { ...content, ...this.#sequence() };
  }

  /** An appointment for a stop; every slot has room for all. */
  #reserve(): Step {
    const { call, at } = this.#world.route.site;
    const orderId = this.#stop();
    return {
      what: `appointment of ${orderId}`,
      run: () =>
        codeOf(
          (async () => {
            const listing = { apptRequest: {} };
            const { apptRequest } = (await call(listTimeSlots, { ...at, body: listing })) as {
              apptRequest: { timeSlots: readonly { timeSlotId: string }[] };
            };
            // Walks share one clock: the first slot may have begun by the time of the reservation.
            const { timeSlotId } = this.#pick(apptRequest.timeSlots.slice(1));
            const apptReservation = { orderId, timeSlotId, quantity: 1 };
            await call(reserveTimeSlot, { ...at, body: { apptReservation } });
          })(),
        ),
    };
  }

  /** None, or some out of a few. */
  #documents(): readonly object[] {
    const names = ["a.jpg", "b.jpg", "c.pdf"].filter(() => this.#chance(0.3));
    return names.map((documentName) => ({
      documentName,
      documentData: Buffer.from(documentName).toString("base64"),
    }));
  }

  #assign(): Step {
    const { call, at } = this.#world.route.site;
    const [loadNbr, stopNbr] = [this.#load(), this.#stop()];
    const carrier = { carrierCode: "C1" };
    const ways = {
      [`carrier of ${loadNbr}`]: () => call(assignLoadCarrier, { ...at, loadNbr, body: carrier }),
      [`no carrier of ${loadNbr}`]: () => call(unassignLoadCarrier, { ...at, loadNbr, body: carrier }),
      [`driver of ${loadNbr}`]: () =>
        call(assignLoadDriver, { ...at, loadNbr, body: { driverUserName: "ann" } }),
      [`no driver of ${loadNbr}`]: () => call(unassignLoadDriver, { ...at, loadNbr, body: {} }),
      [`carrier of ${stopNbr}`]: () => call(assignStopCarrier, { ...at, stopNbr, body: carrier }),
      [`no carrier of ${stopNbr}`]: () => call(unassignStopCarrier, { ...at, stopNbr, body: carrier }),
    };
    const [what, run] = this.#pick(Object.entries(ways));
    return { what, run: () => codeOf(run()) };
  }

  #delete(): Step {
    const { call, at } = this.#world.route.site;
    const [loadNbr, stopNbr, reasonCode] = [this.#load(), this.#stop(), "R"];
    const ways = {
      [`cancel ${loadNbr}`]: () => call(cancelLoad, { ...at, body: { loadNbr, reasonCode } }),
      [`delete ${stopNbr}`]: () => call(rejectStop, { ...at, body: { stopNbr, reasonCode } }),
      [`delete the ASN ${stopNbr}`]: () => call(rejectAsn, { ...at, body: { stopNbr, reasonCode } }),
      [`delete the order ${stopNbr}`]: () =>
        call(rejectOrder, { ...at, body: { orderNbr: stopNbr, reasonCode } }),
    };
    const [what, run] = this.#pick(Object.entries(ways));
    return { what, run: () => codeOf(run()) };
  }

  #event(now: WalkStates): Step {
    const planned = [...now.loads].filter(([, status]) => status < 90).map(([nbr]) => nbr);
    const loadNbr = planned.length === 0 || this.#chance(0.05) ? this.#load() : this.#pick(planned);
    const on = [...now.stops].filter(([, stop]) => stop.loadNbr === loadNbr).map(([nbr]) => nbr);
    const isPlanned = (now.loads.get(loadNbr) ?? 0) < 40;
    const code = isPlanned && this.#chance(0.8) ? "route.initiated" : this.#pick(routeEventCodes);
    const stopNbr = on.length === 0 || this.#chance(0.05) ? this.#stop() : this.#pick(on);
    const documents = this.#documents();
    const data = { autoDepart: this.#chance(0.3), ...(documents.length === 0 ? {} : { documents }) };
    const stop = code.startsWith("stop.") ? { stopNbr, data } : {};
    // An event that comes again, now and then, with documents of its own.
    const again = this.#lastEvent;
    if (again !== undefined && code.startsWith("stop.") && this.#chance(0.15)) {
      const report = { ...again.report, data };
      return {
        what: `again ${again.code} ${JSON.stringify(report)}`,
        run: () => codeOf(this.#world.route.report(again.code, report)),
      };
    }
    this.#minute += 1;
    // Late ones among them: time goes on, but not for all.
    const at = this.#chance(0.1) ? this.#minute - 10 : this.#minute;
    const report = { loadNbr, at, as: this.#pick(["ann", "bob", "host", "host", "host"]), ...stop };
    if (code.startsWith("stop.")) this.#lastEvent = { code, report };
    return {
      what: `${code} ${JSON.stringify(report)}`,
      run: () => codeOf(this.#world.route.report(code, report)),
    };
  }

  #position(): Step {
    const [loadNbr, kilometres, at] = [this.#load(), this.#random() * 10, this.#minute];
    return {
      what: `position of ${loadNbr}`,
      run: () => codeOf(this.#world.route.position(kilometres, { loadNbr, as: "host", at })),
    };
  }
}
