/**
 * A page or an act of the console: one record for each, as the dispatcher and the tests of roles see it.
 *
 *   GET   shows a page: whole, or the part of it that htmx has asked for (`isPart`)
 *   POST  acts: with the token of the session in the form, a reason, and a row in the audit; answered by a redirect to a
 *         page (303), so that going back or a reload repeats nothing
 */
import type { Answer } from "../server/answer.ts";
import type { ConsoleServices } from "./console-services.ts";
import type { ConsoleAccess, ConsoleUser } from "./console-user.ts";

export interface ConsoleRequest {
  readonly requestId: string;
  readonly user: ConsoleUser;
  /** The decoded parts of the path by their names in the pattern. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The fields of a form; empty unless the route acts. */
  readonly form: URLSearchParams;
  /** htmx asks for a part of the page (`HX-Request`), which goes out without the frame around it. */
  readonly isPart: boolean;
  /** The path and query that were asked for, below the base path. */
  readonly target: string;
  /** What the browser has heard last of a stream that was cut off: the id of an event. */
  readonly lastEventId: string | undefined;
  /** Makes a signal that aborts when the client is gone. */
  signal(): AbortSignal;
}

export interface ConsoleRoute {
  readonly access: "console";
  /** Unique; the name in logs and metrics. */
  readonly name: string;
  readonly method: "GET" | "POST";
  /** Below the base path: `/console/files/{reference}`. */
  readonly path: `/console${string}`;
  readonly who: ConsoleAccess;
  /** The page asks by itself (live rows, polling), so that nobody's session is kept open by it. */
  readonly isBackground?: boolean;
  /** Largest form in bytes; 64 KiB unless given. */
  readonly maxFormBytes?: number;
  run(services: ConsoleServices, request: ConsoleRequest): Promise<Answer>;
}
