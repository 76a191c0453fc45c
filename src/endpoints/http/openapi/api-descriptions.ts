/** What the API document says of each operation, by the name of its route. Routes and descriptions cover each other (tested). */
import type { ApiDescriptions } from "./api-description.ts";
import { appointmentDescriptions } from "./api-appointment-descriptions.ts";
import { eventDescriptions } from "./api-event-descriptions.ts";
import { loadDescriptions } from "./api-load-descriptions.ts";
import { orderDescriptions } from "./api-order-descriptions.ts";
import { serviceDescriptions } from "./api-service-descriptions.ts";
import { stopDescriptions } from "./api-stop-descriptions.ts";

export const apiDescriptions: ApiDescriptions = {
  ...loadDescriptions,
  ...stopDescriptions,
  ...orderDescriptions,
  ...appointmentDescriptions,
  ...eventDescriptions,
  ...serviceDescriptions,
};
