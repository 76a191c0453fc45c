/** The table of pages and acts of the console, each once. */
import type { ConsoleRoute } from "./console-route.ts";
import { filePage } from "./pages/file/file-page.ts";
import { retryFileAct, retryFilePage } from "./pages/file/retry-file-page.ts";
import { filesCsv } from "./pages/files/files-csv.ts";
import { findPage } from "./pages/find/find-page.ts";
import { filesPage } from "./pages/files/files-page.ts";
import { hostsRoutes } from "./pages/hosts/hosts-page.ts";
import { loadPage } from "./pages/load/load-page.ts";
import { stopPage } from "./pages/stop/stop-page.ts";

export const consoleRoutes: readonly ConsoleRoute[] = [
  findPage,
  filesPage,
  filesCsv,
  filePage,
  retryFilePage,
  retryFileAct,
  stopPage,
  loadPage,
  ...hostsRoutes,
];
