import { type ConsoleUser, companiesFor } from "../console-user.ts";
import type { Scope } from "../console-services.ts";

/** What the user may look at. */
export function lookScope(user: ConsoleUser): Scope {
  const companies = companiesFor(user, "look").map(({ id, code }) => ({ id, code }));
  return { companies, isOperator: user.isOperator };
}
