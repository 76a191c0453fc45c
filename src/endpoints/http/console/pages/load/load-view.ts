/** What the page of a load asks, and what it is told. Plain data; times are milliseconds UTC. */
import type { GeoPoint } from "../../../../../domain/execution/geo-point.ts";
import type { VisitView } from "../stop/stop-view.ts";

export interface LoadAsked {
  readonly companyCode: string;
  readonly loadNbr: string;
  /** A place that `LoadFound` has named: only imports that came before it. */
  readonly importsBefore?: string;
}

export interface LoadVisitView extends VisitView {
  /** Undefined where its address has no coordinates. */
  readonly place?: GeoPoint;
  /** Metres around it within which a position counts as having come there. */
  readonly radiusMetres: number;
}

export interface LoadStopView {
  readonly stopNbr: string;
  readonly status: string;
  readonly visits: readonly LoadVisitView[];
}

export interface LoadEventView {
  readonly code: number;
  readonly name: string;
  readonly stopNbr: string | null;
  readonly recordedAt: number;
  readonly happenedAt: number;
}

export interface PositionView {
  readonly at: number;
  readonly place: GeoPoint;
}

export interface LoadImportView {
  /** The id that its host was answered with. */
  readonly guid: string;
  readonly user: string;
  readonly receivedAt: number;
  readonly decidedAt: number | null;
  readonly state: "waiting" | "applied" | "refused";
  readonly reasons: readonly {
    readonly reasonCode: number;
    readonly path?: string;
    readonly message: string;
  }[];
}

export interface LoadFound {
  readonly company: string;
  readonly loadNbr: string;
  readonly status: number;
  readonly carrierCode: string | null;
  /** What is known of the driver. */
  readonly driver: { readonly name?: string; readonly userName?: string; readonly cdl?: string };
  readonly vehicle: string | undefined;
  readonly zone: string;
  readonly earliestStart?: number;
  readonly latestStart?: number;
  readonly actualStart?: number;
  readonly actualEnd?: number;
  readonly origin: { readonly name: string; readonly place?: GeoPoint } | undefined;
  readonly createdAt: number;
  /** In the order of their visits; the first 500. */
  readonly stops: readonly LoadStopView[];
  readonly moreStops: number;
  /** Of all stops those to which nothing more happens. */
  readonly finalStops: number;
  /** Oldest first; thinned out to 500 of the newest 5,000. */
  readonly track: readonly PositionView[];
  readonly positions: number;
  readonly last: PositionView | undefined;
  /** When the arrivals were calculated last. */
  readonly etaAt: number | undefined;
  /** Oldest first, the newest 200. */
  readonly events: readonly LoadEventView[];
  readonly imports: {
    /** The newest first, at most 20. */
    readonly shown: readonly LoadImportView[];
    /** The place behind which there are more; undefined when these are all. */
    readonly before: string | undefined;
  };
  readonly newestImport: LoadImportView | undefined;
}
