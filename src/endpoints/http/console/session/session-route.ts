/** A page or form about the session itself: it sees more of the session than other pages do. */
import { seeOther } from "../kit/page.ts";
import type { OwnPasswordChange } from "../../../../operations/users/own-password.ts";
import type { ConsoleSession, ConsoleSessions } from "../../../../sign-in/console-sessions.ts";
import type { Answer } from "../../server/answer.ts";
import type { PageRequest } from "../../server/route.ts";
import type { ConsoleRequest, ConsoleRoute } from "../console-route.ts";
import type { ConsoleServices } from "../console-services.ts";

/** What the console as a whole is made of. */
export interface ConsoleDeps {
  readonly services: ConsoleServices;
  readonly sessions: ConsoleSessions;
  /** The users who see what belongs to all companies, each as NAME@COMPANY; those in force. */
  readonly operators: () => readonly string[];
  readonly changePassword: (change: OwnPasswordChange) => Promise<void>;
}

export interface InSession {
  readonly request: ConsoleRequest;
  readonly session: ConsoleSession;
  readonly asked: PageRequest;
}

export interface SessionRoute extends Omit<ConsoleRoute, "run"> {
  /** Also while the password has to be changed first. */
  readonly isForPassword: true;
  runInSession(deps: ConsoleDeps, given: InSession): Promise<Answer>;
}

/** To a page of the console, after a form (303). */
export function redirect(
  { basePath }: Pick<ConsoleServices, "basePath">,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return seeOther(`${basePath()}${path}`, headers);
}
