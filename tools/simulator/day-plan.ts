/** What is planned of a day before anything is sent: data, all of it a function of the options. */
import type { LoadStatus } from "../../src/domain/load/load-status.ts";
import type { Confirmed } from "../../src/domain/stop/stop-detail.ts";
import type { StopStatus } from "../../src/domain/stop/stop-status.ts";

export interface DayOptions {
  readonly companyCode: string;
  /** The day of the loads, `YYYY-MM-DD`, in the zone of each load's region. */
  readonly date: string;
  /** User names of drivers of the company; the loads are given to them in turn. */
  readonly drivers: readonly [string, ...(readonly string[])];
  /** 0 to `maxSeed`. */
  readonly seed: number;
  /** 1 to `maxLoads`. */
  readonly loads: number;
  /** Of each load, 1 to `maxStops`. */
  readonly stops: number;
  /** Simulated seconds between two positions of a driver on the way; 0 for no positions. */
  readonly gpsSeconds: number;
  /** What the numbers of loads and stops begin with; at most 12 letters, digits, `_`, `-`. */
  readonly prefix: string;
  /** Whether reports are signed in as the drivers; else they come from the host's user. */
  readonly driversReport: boolean;
  /** Whether some requests are wrong on purpose, with the refusal that they have to get. */
  readonly faults: boolean;
}

/** Four digits, so that the standard prefix has at most 12 characters. */
export const maxSeed = 9_999;
export const maxLoads = 9_999;
export const maxStops = 99;

export type RequestKind = "loadImport" | "driverAssignment" | "routeEvent" | "stopEvent" | "gpsPosition";

export interface PlannedRequest {
  readonly kind: RequestKind;
  /** When it is sent, simulated: milliseconds UTC. A late report tells an earlier time in its body. */
  readonly at: number;
  /** User name of the driver who sends it; undefined for the host. */
  readonly sender: string | undefined;
  /** Path without the gateway's address and the company: `/v5/event/gps`. */
  readonly path: string;
  /** JSON. */
  readonly body: string;
  /** The reason code that it is to be refused with; undefined when it is to succeed. */
  readonly refusal: number | undefined;
  /** Whether it is the exact repetition of a request before it. */
  readonly isRepeat: boolean;
}

export interface PlannedStopOutcome {
  readonly stopNbr: string;
  readonly stopStatus: StopStatus;
  /** What is confirmed of each detail, in their order. */
  readonly confirmed: readonly Confirmed[];
}

/** The state of the load in the gateway when all is played. */
export interface PlannedOutcome {
  readonly loadStatus: LoadStatus;
  readonly driverUserName: string;
  readonly stops: readonly PlannedStopOutcome[];
}

export interface LoadPlan {
  readonly loadNbr: string;
  /** In the order in which they are sent, one after the answer to the other. */
  readonly requests: readonly PlannedRequest[];
  readonly outcome: PlannedOutcome;
}

export interface PlannedImport {
  readonly loadNbrs: readonly string[];
  readonly request: PlannedRequest;
}

export interface DayPlan {
  readonly options: DayOptions;
  /** All before the first load is played, each finished before the next. */
  readonly imports: readonly PlannedImport[];
  /** By the time of their first request. */
  readonly loads: readonly LoadPlan[];
}
