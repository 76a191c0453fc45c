/** The table of pages and acts of the console, each once. */
import type { ConsoleRoute } from "./console-route.ts";
import { auditCsvRoute, auditRoute } from "./pages/audit/audit-page.ts";
import { retryFilesRoutes } from "./pages/acts/retry-files-page.ts";
import { deliveriesPage } from "./pages/deliveries/deliveries-page.ts";
import { deliveryPage } from "./pages/deliveries/delivery-page.ts";
import { exportActs, exportsPage } from "./pages/deliveries/exports-page.ts";
import { releaseRoutes } from "./pages/deliveries/release-act.ts";
import { severalDeliveriesRoutes } from "./pages/deliveries/several-deliveries.ts";
import { targetActs } from "./pages/deliveries/target-acts.ts";
import { remoteActs, remotesPage } from "./pages/remotes/remotes-page.ts";
import { filePage } from "./pages/file/file-page.ts";
import { retryFileAct, retryFilePage } from "./pages/file/retry-file-page.ts";
import { filesCsv } from "./pages/files/files-csv.ts";
import { findPage } from "./pages/find/find-page.ts";
import { filesPage } from "./pages/files/files-page.ts";
import { healthActRoutes } from "./pages/health/health-acts.ts";
import { healthRoutes } from "./pages/health/health-page.ts";
import { hostsRoutes } from "./pages/hosts/hosts-page.ts";
import { loadPage } from "./pages/load/load-page.ts";
import { stopPage } from "./pages/stop/stop-page.ts";
import { lateRoute } from "./pages/today/late-page.ts";
import { liveRoutes } from "./pages/today/live-page.ts";
import { todayRoute } from "./pages/today/today-page.ts";
import { companyActRoute } from "./pages/users/company-act.ts";
import { userActRoutes } from "./pages/users/user-acts.ts";
import { userRoute } from "./pages/users/user-page.ts";
import { usersRoute } from "./pages/users/users-page.ts";
import { waitingRoute } from "./pages/waiting/waiting-page.ts";

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
  todayRoute,
  lateRoute,
  waitingRoute,
  ...liveRoutes,
  ...healthRoutes,
  ...healthActRoutes,
  usersRoute,
  userRoute,
  ...userActRoutes,
  companyActRoute,
  auditRoute,
  auditCsvRoute,
  ...[deliveriesPage, deliveryPage, exportsPage, remotesPage],
  ...retryFilesRoutes,
  ...[...severalDeliveriesRoutes, ...releaseRoutes, ...targetActs, ...exportActs, ...remoteActs],
];
