/** The table of pages and acts of the console, each once. */
import type { ConsoleRoute } from "./console-route.ts";

export const consoleRoutes: readonly ConsoleRoute[] = [];
