/** The console as the HTTP server takes it: its routes, and what their answers have in common. */
import type { PageArea, Route } from "../server/route.ts";
import { consoleRoutes } from "./routes.ts";
import { guardedRoutes } from "./session/console-guard.ts";
import { sessionRoutes } from "./session/own-session.ts";
import { consoleArea } from "./session/page-area.ts";
import type { ConsoleDeps } from "./session/session-route.ts";
import { signInRoutes } from "./session/sign-in-page.ts";

export interface ServedConsole {
  readonly routes: readonly Route[];
  readonly area: PageArea;
}

export function createConsole(deps: ConsoleDeps): ServedConsole {
  return {
    routes: [...signInRoutes(deps), ...guardedRoutes([...sessionRoutes, ...consoleRoutes], deps)],
    area: consoleArea(deps.services.basePath),
  };
}
