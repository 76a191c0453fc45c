/**
 * A route: one operation as HTTP sees it, in one record. These records alone drive the dispatcher, the API document and the
 * tests of roles and examples.
 */
import type { Role } from "../../../domain/users/role.ts";
import type { SentBody } from "../../../operations/imports/service-import.ts";
import type { Answer, ErrorShape } from "./answer.ts";
import type { HttpOptions } from "./http-options.ts";
import type { CallOperation } from "./operation-context.ts";
import type { QueryParameter } from "./request-target.ts";

/** A request that has passed every check and is about to run. */
export interface OperationRequest {
  readonly requestId: string;
  readonly userName: string;
  /** Those of the caller in the company. */
  readonly roles: readonly Role[];
  readonly companyId: number;
  /** As registered, whatever case the path had. */
  readonly companyCode: string;
  /** The decoded parts of the path by their names in the pattern. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: readonly QueryParameter[];
  /** Parsed JSON of routes with a `json` body. */
  readonly json: unknown;
  /** The untouched bytes of a large body, for the reader threads of the operation; `json` is undefined then. */
  readonly large: Uint8Array | undefined;
  /** The untouched body of routes with an `xml` body. */
  readonly bytes: Uint8Array;
  /** The charset that the Content-Type names, in lower case. */
  readonly charset: string | undefined;
  /** The untouched body of an import for a custom integration; `json` is undefined then. */
  readonly sent: SentBody | undefined;
  /** Makes a signal that aborts when the client is gone. */
  signal(): AbortSignal;
}

/** What `/readyz` reports: to everybody the names of checks and their results. */
export interface Health {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, boolean>>;
  /** Only to the addresses of `http.metricsFrom`: why, and which files wait for long. */
  readonly messages: readonly string[];
}

export interface Monitoring {
  health(): Health;
  /** In the text form of Prometheus. */
  metrics(): Promise<string>;
}

/** The services that routes use. */
export interface RouteServices {
  readonly call: CallOperation;
  readonly monitoring: Monitoring;
  readonly options: () => HttpOptions;
}

interface RouteBase {
  /** Unique; the name in logs and the operation id of the API document. */
  readonly name: string;
  readonly summary: string;
  readonly method: "GET" | "POST";
  /** `/stop/info/{stopNbr}/{companyCode}`: a part in braces takes any one part of the path. */
  readonly path: string;
  /**
   * A version mounts the path under `{basePath}/v5` and `{basePath}/v6` and is the one the API document lists; `none`
   * mounts it at the root and under `{basePath}`.
   */
  readonly version: "v5" | "v6" | "none";
  /** Literal parts of the path match in any case. */
  readonly isAnyCase?: boolean;
  readonly errorShape: ErrorShape;
  /** `none`: unknown parameters are refused (910); `own`: the operation reads them; `ignored`. */
  readonly query: "none" | "own" | "ignored";
  readonly body: "none" | "json" | "xml";
  /** Media types of the body. */
  readonly media: readonly string[];
  /** An import, or an event with documents: its operation gets large bodies untouched (`large`). */
  readonly takesLarge?: boolean;
  /** A request without a body is the same as one with an empty object. */
  readonly isBodyOptional?: boolean;
  /** The path has `{serviceName}`: for any but `default` the body stays untouched (`sent`), and may be XML too. */
  readonly isMappable?: boolean;
}

/** What a route without a sign-in knows of its request. */
export interface PublicRequest {
  /** Whether it comes from an address of `http.metricsFrom`. */
  isMonitor(): boolean;
  /** The decoded parts of the path by their names in the pattern. */
  readonly params: Readonly<Record<string, string>>;
}

/** Needs no sign-in. Answered even while others are refused because of load. */
export interface PublicRoute extends RouteBase {
  readonly access: "public";
  /** Answered only to addresses of `http.metricsFrom`. */
  readonly isForMonitoring?: boolean;
  run(services: RouteServices, asked: PublicRequest): Promise<Answer>;
}

/** The path names a company, in which the caller needs one of the roles. */
export interface CompanyRoute extends RouteBase {
  readonly access: readonly Role[];
  run(services: RouteServices, request: OperationRequest): Promise<Answer>;
}

export type Route = PublicRoute | CompanyRoute;

/** A read without a sign-in. */
export const openRead = {
  method: "GET",
  version: "none",
  access: "public",
  errorShape: "text",
  query: "ignored",
  body: "none",
  media: [],
} as const;
