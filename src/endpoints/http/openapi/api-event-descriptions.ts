/** The API document's texts and examples for what drivers report. */
import { type TSchema, Type } from "@sinclair/typebox";
import { identifier } from "../../../domain/fields/fields.ts";
import { GpsPosition, RouteEvent } from "../../../domain/execution/route-event.ts";
import { routeEventCodes } from "../../../domain/execution/route-event-rules.ts";
import { type ApiDescriptions, bodyErrors, success } from "./api-description.ts";

function withCompany(body: TSchema, more: Readonly<Record<string, TSchema>> = {}) {
  return Type.Intersect([
    body,
    Type.Object({ ...more, companyCode: Type.Optional(identifier("companyCode")) }),
  ]);
}

const RouteEventBody = withCompany(RouteEvent, {
  eventCode: Type.Unsafe<string>({ type: "string", enum: [...routeEventCodes] }),
});

const geoStamp = {
  eventDTTM: "2026-11-06T06:05:00",
  eventTz: "America/Chicago",
  latitude: 39.7817,
  longitude: -89.6501,
};

const reportErrors = [...bodyErrors, "emptyList", "badDate", "loadNotFound"] as const;

const whose =
  "A `DI_Driver` reports of loads that are assigned to that driver, or to nobody yet; others are refused with `932`.";

export const eventDescriptions: ApiDescriptions = {
  reportRouteEvent: {
    tag: "Events",
    description:
      "Reports a step of a load (`route.…`) or of one of its stops (`stop.…`, with `stopEventData`). Events may come late and in " +
      "bulk: they carry their own time and are applied in the order in which they come. An event that comes again, with the " +
      `same \`routeNbr\`, \`stopNbr\`, \`eventCode\` and \`eventDTTM\`, is answered with success and changes nothing. ${whose}`,
    request: {
      schema: RouteEventBody,
      example: { eventCode: "route.initiated", geoStamp, routeNbr: "L-1002" },
    },
    answer: success,
    errors: [...reportErrors, "unknownEvent", "eventOutOfSequence", "stopNotOnRoute", "driverRequired"],
  },
  reportGpsPosition: {
    tag: "Events",
    description:
      "Reports where a load is. Positions count between the start and the end of the load, by their own time; others are " +
      `answered in the same way and dropped. ${whose}`,
    request: { schema: withCompany(GpsPosition), example: { geoStamp, routeNbr: "L-1002" } },
    answer: success,
    errors: reportErrors,
  },
};
