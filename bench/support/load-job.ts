/** What the client of the gateway benches is told to do, and what it tells. Passed between processes. */

/** The number of the stop or load that a request is about. */
export type Picked =
  /** Any of the first `count` multiples of `step`, evenly. */
  | { readonly order: "random"; readonly count: number; readonly step?: number }
  /** One after the other. */
  | { readonly order: "ascending"; readonly from: number };

export interface LoadJob {
  readonly port: number;
  readonly authorization: string;
  /** Each has one request under way at any time. */
  readonly connections: number;
  /** How many requests are sent a second by all connections together; as many as are answered when it is left out. */
  readonly pace?: number;
  /** Not measured: connections open, servers find their pace. */
  readonly warmUpSeconds: number;
  /** Measured; it ends earlier when it is told to. */
  readonly seconds: number;
  readonly method: "GET" | "POST";
  /** The number goes between the parts, with seven digits. */
  readonly path: readonly string[];
  /** The same; empty for a request without a body. */
  readonly body: readonly string[];
  readonly pick: Picked;
}

export interface LoadResult {
  readonly perSecond: number;
  /** With those of the warm-up. */
  readonly requests: number;
  /** How many were not answered with 200. */
  readonly failed: number;
  /** Share of one processor that the client itself took. */
  readonly clientCpu: number;
  /** When each measured request was answered (milliseconds since 1970) and how many milliseconds it took. */
  readonly answeredAt: Float64Array;
  readonly tookMs: Float64Array;
}

export type ToClient = { readonly job: LoadJob } | "stop";

/** `failure` says why the job could not be done. */
export type FromClient = { readonly result: LoadResult } | { readonly failure: string };

/** The number as it stands in paths and bodies. */
export function numberText(number: number): string {
  return String(number).padStart(7, "0");
}
