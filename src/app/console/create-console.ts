/** The console of a daemon: its services, its sessions, and who operates it. */
import { createConsole, type ServedConsole } from "../../endpoints/http/console/console-endpoint.ts";
import type { ConsoleServices } from "../../endpoints/http/console/console-services.ts";
import { isNamedOperator } from "../../domain/users/operator.ts";
import { changeOwnPassword } from "../../operations/users/own-password.ts";
import { ConsoleSessions } from "../../sign-in/console-sessions.ts";
import type { Parts } from "../daemon/daemon-parts.ts";
import { createConsoleActs } from "./act-table.ts";

export type ConsoleParts = Pick<
  Parts,
  "store" | "clock" | "log" | "signIn" | "config" | "documents" | "ledgerNumbers"
>;

function servicesOf(parts: ConsoleParts, ask: ConsoleServices["ask"]): ConsoleServices {
  const { store, clock, documents, ledgerNumbers, signIn } = parts;
  const acts = createConsoleActs({
    ...{ store, clock, documents, ledgerNumbers },
    stateDir: parts.config.stateDir,
    config: () => parts.config,
    bans: signIn.bans,
    isOperator: (user) => isNamedOperator(parts.config.console.operators, user),
  });
  return { basePath: () => parts.config.http.basePath, ask, ...acts };
}

/** `ask`: where queries are run. */
export function consoleOf(parts: ConsoleParts, ask: ConsoleServices["ask"]): ServedConsole {
  const { store, clock, log, signIn } = parts;
  return createConsole({
    services: servicesOf(parts, ask),
    sessions: new ConsoleSessions({ store, clock, log, signIn }),
    operators: () => parts.config.console.operators,
    changePassword: (change) => changeOwnPassword({ store, clock }, change),
  });
}
