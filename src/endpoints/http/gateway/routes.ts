/** The table of routes: every operation over HTTP, once. */
import { legacyOperations } from "../legacy/legacy-operations.ts";
import { createApiOperations, pageFiles } from "../openapi/api-routes.ts";
import type { Operation, Route } from "../server/route.ts";
import { appointmentOperations } from "./appointment-operations.ts";
import { customerOperations } from "./customer-operations.ts";
import { eventOperations } from "./event-operations.ts";
import { loadOperations } from "./load-operations.ts";
import { monitoringOperations } from "./monitoring-operations.ts";
import { orderOperations } from "./order-operations.ts";
import { stopOperations } from "./stop-operations.ts";
import { userOperations } from "./user-operations.ts";

const families: readonly Operation[] = [
  ...loadOperations,
  ...stopOperations,
  ...userOperations,
  ...orderOperations,
  ...customerOperations,
  ...appointmentOperations,
  ...eventOperations,
  ...legacyOperations,
  ...monitoringOperations,
];

/** Every operation, the document of them and its page among them. */
export const operations: readonly Operation[] = [...families, ...createApiOperations(families)];

/** Every route. */
export const routes: readonly Route[] = [...operations, ...pageFiles];
