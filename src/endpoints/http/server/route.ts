/**
 * A route: one operation as HTTP sees it, in one record. These records alone drive the dispatcher, the API document and the
 * tests of roles and examples.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Role } from "../../../domain/users/role.ts";
import type { SentBody } from "../../../operations/imports/service-import.ts";
import type { Fault } from "../../../lib/errors.ts";
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
  readonly errorShape: Exclude<ErrorShape, "page">;
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

/** A request for a page, before anybody has asked who it comes from. */
export interface PageRequest {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  /** The decoded parts of the path by their names in the pattern. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Path and query as they were asked for, without the base path. */
  readonly target: string;
  /** Address of the client. */
  readonly address: string;
  /** The connection itself is encrypted; behind a proxy it may not be, though the browser's is. */
  readonly isEncrypted: boolean;
  /** The fields of a form. Rejects with 909 (413) for more bytes than these, with 942 (415) for another media type. */
  form(maxBytes: number): Promise<URLSearchParams>;
  /** Throws 930 (403) for plain HTTP from another machine, unless that is allowed. */
  checkTransport(): void;
  /** Whose request it is, for the log and the place of the connection. Throws 999 (503) when there is no place. */
  noteUser(userName: string): void;
  /** Makes a signal that aborts when the client is gone. */
  signal(): AbortSignal;
}

/** A page of the console or one of its forms: who may see it is found out by its session. */
export interface PageRoute extends Pick<RouteBase, "name" | "method" | "path" | "isAnyCase"> {
  readonly access: "console";
  readonly version: "none";
  readonly errorShape: "page";
  respond(request: PageRequest): Promise<Answer>;
}

/** A route of the interface, which the API document describes. */
export type OperationRoute = PublicRoute | CompanyRoute;

export type Route = OperationRoute | PageRoute;

/** What the paths of pages have in common. */
export interface PageArea {
  /** The part of the path below the base path that all of them begin with. */
  readonly root: string;
  /** Go with each of their answers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The page that tells why a request was refused. */
  refusal(faults: readonly Fault[], about: { readonly status: number; readonly requestId: string }): Answer;
}

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
