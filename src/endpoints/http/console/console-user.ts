/** Who is signed in to the console, and what they may see and do in which company. */
import type { Role } from "../../../domain/users/role.ts";

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
  /** Goes into every form that acts; another one on each page. */
  readonly formToken: string;
  /** Tells the session from others as long as it lasts, and says nothing about its id. */
  readonly sessionName: string;
  /** Address of the browser. */
  readonly address: string;
}

/**
 * Who may: everybody who is signed in; who may look at a company (`look`: MemberAdmin, DI_Dispatcher, DI_Inquiry), act for
 * one (`act`: MemberAdmin), or see what its hosts do (`integrate`: DI_Integration, MemberAdmin); operators; who administers
 * users (`administer`: MemberAdmin of their companies, operators those of all).
 */
export type ConsoleAccess = "signedIn" | "look" | "act" | "integrate" | "operator" | "administer";

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

/** What queries of the pages may see: the companies at which the user may look. */
export function scopeFor(user: ConsoleUser): {
  readonly companies: readonly { readonly id: number; readonly code: string }[];
  readonly isOperator: boolean;
} {
  const companies = companiesFor(user, "look").map(({ id, code }) => ({ id, code }));
  return { companies, isOperator: user.isOperator };
}
