/** Drives loads by route events and positions on the gateway's real store; times are minutes after eight o'clock. */
import type { Role } from "../../src/domain/users/role.ts";
import type { RouteEventCode } from "../../src/domain/execution/route-event-rules.ts";
import { reportGpsPosition } from "../../src/operations/execution/report-gps-position.ts";
import { reportRouteEvent } from "../../src/operations/execution/report-route-event.ts";
import { GatewayStore } from "./gateway-store.ts";

export interface Report {
  readonly loadNbr?: string;
  readonly stopNbr?: string;
  /** Minutes after 2026-11-05T08:00:00. */
  readonly at?: number;
  readonly zone?: string;
  readonly as?: string;
  readonly roles?: readonly Role[];
  readonly stamp?: object;
  readonly data?: object;
}

/** Streets a kilometre of latitude apart, to the north of the origin at 0, 0. */
export const kilometre = 180 / (Math.PI * 6_371.0088);

export function timeAt(minutes: number): string {
  return new Date(Date.UTC(2026, 10, 5, 8, minutes)).toISOString().slice(0, 19);
}

/** An address this many kilometres north of the origin. */
export function north(kilometres: number): object {
  return { address: { addr1: `Street ${kilometres}`, latitude: kilometres * kilometre, longitude: 0 } };
}

/** Stops of loads, and the places along their way. */
export const pickup = { stopNbr: "P1", stopType: "PU", from: north(1) };
export const both = { stopNbr: "B1", from: north(1), to: north(2) };
export const dropoff = { stopNbr: "D1", stopType: "DO", to: north(3) };
export const other = { stopNbr: "D2", to: north(4) };

export class RouteDriver {
  readonly site: GatewayStore;
  #minute = 0;

  private constructor(site: GatewayStore) {
    this.site = site;
  }

  /** A store with the drivers ann, bob and the host, who is no driver. */
  static async open(): Promise<RouteDriver> {
    const site = await GatewayStore.open();
    await site.addDriver({ userName: "ann", fullName: "Ann Hill" });
    await site.addDriver({ userName: "bob", fullName: "Bob Vale" });
    return new RouteDriver(site);
  }

  /** Imports the load L1 of ann, or another. */
  async load(stops: readonly object[], rest: { header?: object; driver?: string | null; nbr?: string } = {}) {
    const { header = {}, driver = "ann", nbr = "L1" } = rest;
    await this.site.importLoads({
      loadHeader: { loadNbr: nbr, originAddr1: "Origin", originLatitude: 0, originLongitude: 0, ...header },
      stops,
      ...(driver === null ? {} : { loadAssignment: { driverUserName: driver } }),
    });
    await this.site.events();
  }

  #input({ as = "ann", roles = as === "host" ? ["DI_Integration"] : ["DI_Driver"] }: Report) {
    return { ...this.site.at, userName: as, roles };
  }

  #stamp({ at, zone = "UTC", stamp = {} }: Report): object {
    if (at !== undefined) this.#minute = at;
    return { eventDTTM: timeAt(this.#minute), eventTz: zone, ...stamp };
  }

  /** Reports an event; without a time, a minute after the last one. */
  async report(eventCode: RouteEventCode, report: Report = {}): Promise<void> {
    this.#minute += report.at === undefined ? 1 : 0;
    const { loadNbr: routeNbr = "L1", stopNbr, data } = report;
    const stopEventData = stopNbr === undefined ? {} : { stopEventData: { stopNbr, ...data } };
    const body = { eventCode, geoStamp: this.#stamp(report), routeNbr, ...stopEventData };
    await this.site.call(reportRouteEvent, { ...this.#input(report), body });
  }

  /** Reports a position so many kilometres north of the origin. */
  async position(kilometres: number, report: Report = {}): Promise<void> {
    this.#minute += report.at === undefined ? 1 : 0;
    const stamp = { latitude: kilometres * kilometre, longitude: 0, ...report.stamp };
    const body = { geoStamp: this.#stamp({ ...report, stamp }), routeNbr: report.loadNbr ?? "L1" };
    await this.site.call(reportGpsPosition, { ...this.#input(report), body });
  }

  /** Initiates L1 and leaves the origin. */
  async depart(): Promise<void> {
    await this.report("route.initiated");
    await this.report("route.origin.arrival");
    await this.report("route.origin.depart");
    await this.site.events();
  }

  async loadStatus(loadNbr = "L1"): Promise<number> {
    return (await this.site.load(loadNbr)).loadExecutionInfo.loadStatus;
  }

  async execution(stopNbr: string) {
    return (await this.site.stop(stopNbr)).stopExecutionInfo;
  }
}
