/** The table of routes: every operation over HTTP, once. */
import { createApiRoutes } from "../openapi/api-routes.ts";
import { appointmentRoutes } from "./appointment-routes.ts";
import { customerRoutes } from "./customer-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import { legacyRoutes } from "../legacy/legacy-routes.ts";
import { loadRoutes } from "./load-routes.ts";
import { monitoringRoutes } from "./monitoring-routes.ts";
import { orderRoutes } from "./order-routes.ts";
import type { Route } from "../server/route.ts";
import { stopRoutes } from "./stop-routes.ts";
import { userRoutes } from "./user-routes.ts";

/** Every route that the API document describes. */
const described: readonly Route[] = [
  ...loadRoutes,
  ...stopRoutes,
  ...userRoutes,
  ...orderRoutes,
  ...customerRoutes,
  ...appointmentRoutes,
  ...eventRoutes,
  ...legacyRoutes,
  ...monitoringRoutes,
];

/** Every route. */
export const routes: readonly Route[] = [...described, ...createApiRoutes(described)];
