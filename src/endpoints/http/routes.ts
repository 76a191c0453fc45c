/** The table of routes: every operation over HTTP, once. */
import { assetRoute } from "./console/assets/asset-route.ts";
import { legacyOperations } from "./legacy/legacy-operations.ts";
import type { Operation } from "./openapi/api-description.ts";
import { apiOperations, pageFiles } from "./openapi/api-page.ts";
import type { Route } from "./server/route.ts";
import { appointmentOperations } from "./gateway/appointment-operations.ts";
import { customerOperations } from "./gateway/customer-operations.ts";
import { eventOperations } from "./gateway/event-operations.ts";
import { loadOperations } from "./gateway/load-operations.ts";
import { monitoringOperations } from "./gateway/monitoring-operations.ts";
import { orderOperations } from "./gateway/order-operations.ts";
import { stopOperations } from "./gateway/stop-operations.ts";
import { userOperations } from "./gateway/user-operations.ts";

/** Every operation, including the API document and its page. */
export const operations: readonly Operation[] = [
  ...loadOperations,
  ...stopOperations,
  ...userOperations,
  ...orderOperations,
  ...customerOperations,
  ...appointmentOperations,
  ...eventOperations,
  ...legacyOperations,
  ...monitoringOperations,
  ...apiOperations,
];

export const routes: readonly Route[] = [...operations, ...pageFiles, assetRoute];
