/** Servers under the same load, turn by turn. */
import { progress } from "./bench-options.ts";
import type { HttpSite } from "./floor-server.ts";
import type { LoadClient } from "./load-client.ts";
import type { LoadJob } from "./load-job.ts";
import { type Measurement, medianOf, ratiosOf, type Wanted } from "./measurement.ts";
import { cpuMsOf, type DaemonSite } from "./sites.ts";

/** What a client does, apart from where and for how long. */
export type LoadKind = Omit<LoadJob, "port" | "warmUpSeconds" | "seconds">;

export interface Turn {
  readonly perSecond: number;
  /** Processor time of the server for one request. */
  readonly cpuMs: number;
  readonly clientCpu: number;
}

export function httpSiteOf(daemon: DaemonSite): HttpSite {
  return { process: daemon.process, port: Number(new URL(daemon.http).port) };
}

export interface Taker {
  readonly client: LoadClient;
  readonly seconds: number;
}

/** One turn of one server. */
export async function takeTurn({ client, seconds }: Taker, site: HttpSite, kind: LoadKind): Promise<Turn> {
  const before = await cpuMsOf(site.process);
  const job = { ...kind, port: site.port, warmUpSeconds: seconds / 4, seconds };
  const { perSecond, requests, clientCpu } = await client.begin(job).result;
  const cpuMs = ((await cpuMsOf(site.process)) - before) / requests;
  progress(".");
  return { perSecond, cpuMs, clientCpu };
}

function ratesOf(turns: readonly Turn[]): number[] {
  return turns.map(({ perSecond }) => perSecond);
}

function noteOf(figure: readonly Turn[], floor: readonly Turn[]): string {
  const median = (turns: readonly Turn[], pick: (turn: Turn) => number) =>
    medianOf(turns.map(pick)).toFixed(2);
  const cpu = [figure, floor].map((turns) => median(turns, ({ cpuMs }) => cpuMs)).join(" beside ");
  const client = [figure, floor].map((turns) => median(turns, ({ clientCpu }) => clientCpu)).join(" and ");
  return `${cpu} ms of CPU a request; the client takes ${client} of a processor`;
}

/** The line of the table. */
export function turnsMeasurement(
  turns: { readonly figure: readonly Turn[]; readonly floor: readonly Turn[] },
  told: { readonly what: string; readonly wanted?: Wanted },
): Measurement {
  const [figure, floor] = [ratesOf(turns.figure), ratesOf(turns.floor)];
  const unit = "requests/s";
  return {
    suite: "gateway",
    ...told,
    figure: { values: figure, unit },
    floor: { values: floor, unit },
    ratios: ratiosOf(figure, floor),
    note: noteOf(turns.figure, turns.floor),
  };
}
