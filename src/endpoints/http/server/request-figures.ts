/** Requests since the start, for monitoring: by route, by what became of them, and how long they took. */
import { Histogram } from "../../../lib/histogram.ts";
import type { Route } from "./route.ts";

/** Seconds from the head of a request to its answer; of one that is streamed, to the end of it. */
export const requestBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/** By the first digit of the status; `gone`: nobody was left to answer. */
const statusClasses = ["gone", "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

export interface RouteStatistics {
  readonly route: string;
  readonly method: string;
  readonly durations: Histogram;
  readonly byStatus: ReadonlyMap<string, number>;
}

/** The figures of one route. */
class RouteFigures implements RouteStatistics {
  readonly route: string;
  readonly method: string;
  readonly durations = new Histogram(requestBounds);
  readonly #counts = new Float64Array(statusClasses.length);

  constructor(route: string, method: string) {
    this.route = route;
    this.method = method;
  }

  get byStatus(): ReadonlyMap<string, number> {
    return new Map(statusClasses.map((name, at) => [name, this.#counts[at] ?? 0]));
  }

  count(status: number, durationMs: number): void {
    const at = Math.floor(status / 100);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.durations.observe(durationMs / 1000);
  }
}

/** What a finished request counts as. `status` 0: nobody was left to answer. */
export interface CountedRequest {
  readonly route: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export class RequestFigures {
  /** Requests that no route takes have no method here: clients may send any word as one. */
  readonly #none = new RouteFigures("none", "any");
  readonly #routes: ReadonlyMap<string, RouteFigures>;
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(routes: readonly Pick<Route, "name" | "method">[]) {
    this.#routes = new Map(routes.map(({ name, method }) => [name, new RouteFigures(name, method)]));
  }

  /** Of bodies, without heads. */
  get bytes(): { readonly bytesIn: number; readonly bytesOut: number } {
    return { bytesIn: this.#bytesIn, bytesOut: this.#bytesOut };
  }

  get routes(): readonly RouteStatistics[] {
    return [...this.#routes.values(), this.#none];
  }

  count({ route, status, durationMs, bytesIn, bytesOut }: CountedRequest): void {
    const known = route === undefined ? undefined : this.#routes.get(route);
    (known ?? this.#none).count(status, durationMs);
    this.#bytesIn += bytesIn;
    this.#bytesOut += bytesOut;
  }
}
