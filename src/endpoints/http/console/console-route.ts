/**
 * A page or an act of the console: one record for each, as the dispatcher and the tests of roles see it.
 *
 *   GET   shows a page: whole, or the part of it that htmx has asked for (`isPart`)
 *   POST  acts: with the token of the session in the form, a reason, and a row in the audit; answered by a redirect to a
 *         page (303), so that going back or a reload repeats nothing
 */
import type { Role } from "../../../domain/users/role.ts";
import type { Answer } from "../server/answer.ts";
import type { ConsoleServices } from "./console-services.ts";

/** A company of the one who is signed in. */
export interface ConsoleCompany {
  readonly id: number;
  readonly code: string;
  readonly roles: readonly Role[];
}

/** Who is signed in. */
export interface ConsoleUser {
  readonly userId: number;
  readonly userName: string;
  /** Those of which the user may see at least one page, in the order of their codes. */
  readonly companies: readonly ConsoleCompany[];
  /** Named in `console.operators`: sees what belongs to all companies. */
  readonly isOperator: boolean;
  /** Goes into every form that acts. */
  readonly formToken: string;
  /** Address of the browser. */
  readonly address: string;
}

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
  /** Makes a signal that aborts when the client is gone. */
  signal(): AbortSignal;
}

/**
 * Who may: everybody who is signed in; who may look at a company (`look`: MemberAdmin, DI_Dispatcher, DI_Inquiry), act for
 * one (`act`: MemberAdmin), or see what its hosts do (`integrate`: DI_Integration, MemberAdmin); operators.
 */
export type ConsoleAccess = "signedIn" | "look" | "act" | "integrate" | "operator";

export interface ConsoleRoute {
  readonly access: "console";
  /** Unique; the name in logs and metrics. */
  readonly name: string;
  readonly method: "GET" | "POST";
  /** Below the base path: `/console/files/{reference}`. */
  readonly path: `/console${string}`;
  readonly who: ConsoleAccess;
  /** Largest form in bytes; 64 KiB unless given. */
  readonly maxFormBytes?: number;
  run(services: ConsoleServices, request: ConsoleRequest): Promise<Answer>;
}

/** The companies of the user in which the access is given. */
export function companiesFor(
  user: ConsoleUser,
  who: "look" | "act" | "integrate",
): readonly ConsoleCompany[] {
  const needed = rolesFor[who];
  return user.companies.filter(({ roles }) => roles.some((role) => needed.includes(role)));
}

/** The roles that give the access in their company. */
export const rolesFor: Readonly<Record<"look" | "act" | "integrate", readonly Role[]>> = {
  look: ["MemberAdmin", "DI_Dispatcher", "DI_Inquiry"],
  act: ["MemberAdmin"],
  integrate: ["MemberAdmin", "DI_Integration"],
};
