/** Definitions for the API document: answers of the legacy web services and of the service itself. */
import { Type } from "@sinclair/typebox";
import { DocumentObject } from "../../../domain/documents/document-object.ts";
import { alike, Reasons } from "./api-schemas.ts";

const optionalText = Type.Optional(Type.String());
const optionalNumber = Type.Optional(Type.Number());
const optionalTextOrNumber = Type.Optional(Type.Union([Type.String(), Type.Number()]));
const measure = Type.Optional(
  Type.Object({ uom: optionalText, value: Type.Union([Type.String(), Type.Number()]) }),
);

const legacyDate = Type.Optional(Type.String({ description: "Such as `Nov 5, 2026 8:00:00 AM`." }));

export const LegacyLoadHeader = Type.Object({
  loadId: optionalNumber,
  loadNbr: Type.String(),
  status: Type.String(),
  origin: optionalTextOrNumber,
  ...alike(optionalText, "originName", "originAddr1", "originAddr2", "originCity", "originState"),
  originZip: optionalTextOrNumber,
  originCountry: optionalText,
  totalStops: optionalNumber,
  reference: optionalTextOrNumber,
  ...alike(measure, "weight", "volume"),
  companyId: Type.Optional(Type.Object({ companyId: optionalNumber, companyName: optionalText })),
  assignedDriver: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

export const LegacyLoad = Type.Intersect([
  LegacyLoadHeader,
  Type.Object({
    ...alike(legacyDate, "earliestStartDttm", "latestStartDttm"),
    ...alike(optionalTextOrNumber, "totalPallets", "totalCartons"),
  }),
]);

export const LegacyStop = Type.Object({
  loadId: Type.Optional(Type.Object({ loadHeader: LegacyLoadHeader })),
  stopNbr: Type.String(),
  status: Type.String({ description: "As `stopStatus` of the stop detail." }),
  stopSeq: optionalNumber,
  ...alike(optionalTextOrNumber, "shipmentNbr", "bol"),
  signatureRequired: Type.Optional(Type.Boolean()),
  ...alike(
    optionalText,
    "shipToName",
    "shipToAddr1",
    "shipToAddr2",
    "shipToCity",
    "shipToState",
    "shipToZip",
  ),
  ...alike(
    optionalText,
    "billToName",
    "billToAddr1",
    "billToCity",
    "billToState",
    "billToZip",
    "billToCountry",
  ),
  ...alike(legacyDate, "earliestStartDttm", "latestStartDttm"),
  ...alike(optionalNumber, "totalPallets", "totalCartons"),
  ...alike(optionalTextOrNumber, "sealNbr", "reference1", "reference2"),
  documents: Type.Array(DocumentObject),
  stopDetails: Type.Array(
    Type.Object({
      ...alike(optionalTextOrNumber, "product", "productIdentifier"),
      ...alike(measure, "quantity", "weight", "volume"),
    }),
  ),
});

const attribute = { xml: { attribute: true } };
const count = Type.Integer({ minimum: 0 });

/** As `xsd/stop-response.xsd` has it. */
export const StopResponse = Type.Object(
  {
    DocumentID: Type.String(),
    Status: Type.Integer({ enum: [10, 99], description: "`10` success, `99` failure." }),
    Errors: Type.Optional(
      Type.Object({
        Error: Type.Array(
          Type.Object({
            ErrorMsgID: Type.Integer(attribute),
            Line: Type.Optional(Type.Integer(attribute)),
            Column: Type.Optional(Type.Integer(attribute)),
            Path: Type.Optional(Type.String(attribute)),
            StopNbr: Type.Optional(Type.String(attribute)),
          }),
          {
            minItems: 1,
            maxItems: 50,
            description: "The text of each element says what is wrong and what to do.",
          },
        ),
      }),
    ),
    Result: Type.Object({ RecordsCreated: count, RecordsUpdated: count, RecordsDeleted: count }),
  },
  { xml: { name: "StopResponse" } },
);

export const Health = Type.Object({
  status: Type.Union([Type.Literal("ready"), Type.Literal("not ready")]),
  checks: Type.Record(Type.String(), Type.Boolean()),
  messages: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Only to the addresses of `http.metricsFrom`: what is wrong, and which files wait for long.",
    }),
  ),
});

/** The result of an import of loads; `loads` has one entry for each load of the request, in its order. */
export const ImportInfo = Type.Object({
  importId: Type.String(),
  status: Type.String({
    enum: ["InProgress", "Success", "PartialSuccess", "Failed"],
    description: "`PartialSuccess`: some loads were applied and some refused.",
  }),
  receivedDTTM: Type.String(),
  finishedDTTM: Type.Union([Type.String(), Type.Null()]),
  timeZone: Type.String({ description: "The zone of both times." }),
  loads: Type.Array(
    Type.Object({
      loadNbr: Type.String(),
      status: Type.String({ enum: ["Waiting", "Success", "Failed"] }),
      Reasons: Type.Optional(Reasons.properties.Reasons),
    }),
  ),
});

export const RecordedEvent = Type.Object({
  eventId: Type.String({ description: "Names the event; of no order, and of no meaning elsewhere." }),
  eventCode: Type.Integer(),
  eventName: Type.String(),
  ...alike(optionalText, "loadNbr", "stopNbr"),
  eventDTTM: Type.String({ description: "When it happened, `YYYY-MM-DDThh:mm:ss`." }),
  eventTz: Type.String({ description: "The zone of `eventDTTM`." }),
  ...alike(optionalNumber, "latitude", "longitude"),
  reportedBy: Type.Optional(Type.String({ description: "Who reported it." })),
  reportedCode: Type.Optional(Type.String({ description: "The `eventCode` of the report." })),
  visit: Type.Optional(
    Type.String({ enum: ["pickup", "dropoff"], description: "Whose geofence was entered." }),
  ),
  ...alike(optionalText, "exceptionCode", "exceptionDesc"),
  reasonCode: optionalTextOrNumber,
  reasonComments: optionalText,
  releasedStops: Type.Optional(
    Type.Array(Type.String(), { description: "Of 7024: stops that the update took off the load." }),
  ),
  documents: Type.Optional(Type.Array(DocumentObject)),
});

export const EventList = Type.Object({ Events: Type.Array(RecordedEvent) });
