/** The table of pages and acts of the console, each once. */
import type { ConsoleRoute } from "./console-route.ts";
import { filesCsv } from "./pages/files/files-csv.ts";
import { filesPage } from "./pages/files/files-page.ts";

export const consoleRoutes: readonly ConsoleRoute[] = [filesPage, filesCsv];
