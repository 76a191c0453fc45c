/** The API document's texts and examples for the legacy web services, events and the service itself. */
import { Type } from "@sinclair/typebox";
import { recordedEvents } from "../../../domain/outbound/recorded-events.ts";
import { errorCatalogue } from "../../../lib/errors.ts";
import { defaultEventLimit, maxEventLimit } from "../../../operations/stops/event-list.ts";
import { defaultLimit, maxLimit } from "../../../operations/legacy/legacy-filter.ts";
import { textType, xmlType } from "../server/answer.ts";
import { type ApiDescriptions, type ApiQueryParameter, jsonAnswerOf } from "./api-description.ts";
import { EventList, Health, LegacyLoad, LegacyStop, StopResponse } from "./api-service-schemas.ts";

const stopDocument = `<?xml version="1.0" encoding="UTF-8"?>
<Stop>
  <Function>01</Function>
  <StopNbr>1001</StopNbr>
  <ShipToName>Corner Shop</ShipToName>
  <ShipToAddr1>12 Main Street</ShipToAddr1>
  <ShipToCity>Springfield</ShipToCity>
  <ShipToState>IL</ShipToState>
  <ShipToZip>62701</ShipToZip>
  <ShipToCountry>US</ShipToCountry>
  <EarliestStartDTTM>2026-11-06T08:00:00</EarliestStartDTTM>
  <LatestStartDTTM>2026-11-06T12:00:00</LatestStartDTTM>
  <TimeZone>America/Chicago</TimeZone>
  <SealNbr>SEAL-1</SealNbr>
</Stop>
`;

const stopResponse = `<?xml version="1.0" encoding="UTF-8"?>
<StopResponse>
  <DocumentID>UNKNOWN</DocumentID>
  <Status>10</Status>
  <Result>
    <RecordsCreated>1</RecordsCreated>
    <RecordsUpdated>0</RecordsUpdated>
    <RecordsDeleted>0</RecordsDeleted>
  </Result>
</StopResponse>
`;

const processedFaults = [
  "companyDiffers",
  "stopInTransit",
  "finalState",
  "tooLarge",
  "stopNotFound",
  "partnerNotFound",
  "badDate",
  "notWellFormed",
  "xsdMismatch",
  "forbiddenXml",
  "tooLong",
] as const;

const faultList = processedFaults
  .map((code) => `\`${errorCatalogue[code].reasonCode}\` ${errorCatalogue[code].meaning}`)
  .join("; ");

function filter(name: string, description: string, example?: string): ApiQueryParameter {
  return { name, description, schema: Type.String(), ...(example === undefined ? {} : { example }) };
}

const paging: readonly ApiQueryParameter[] = [
  {
    name: "limit",
    description: "How many results at most.",
    schema: Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit }),
  },
  {
    name: "offset",
    description: "How many results to leave out first.",
    schema: Type.Integer({ minimum: 0, default: 0 }),
  },
];

const filterRule =
  "A filter is the name of a field of the result, at any depth, in any case; those listed here are the usual ones. Several " +
  "must all match; one that is repeated matches any of its values. What matches nothing gives an empty list.";

const total = { "X-Total-Count": "How many results match in all." };

const legacyDescriptions: ApiDescriptions = {
  submitLegacyStop: {
    tag: "Legacy",
    description:
      "A stop document of `xsd/stop.xsd`, applied before it is answered. `Function` says what is done: `01` create or update, " +
      "`02` delete, `03` create or update and assign or unassign the carrier. A `Stops` document is all or nothing.",
    request: {
      schema: Type.String({ description: "A document that obeys `xsd/stop.xsd`." }),
      example: stopDocument,
    },
    answer: {
      description:
        "The document was processed: `Status` says with what success. With 99, `ErrorMsgID` is one of: " +
        `${faultList}. With \`http.legacyStatus: mapped\` a 99 has the HTTP status of its first reason instead.`,
      contentType: xmlType,
      schema: StopResponse,
      example: stopResponse,
    },
    errors: [],
  },
  findLegacyStops: {
    tag: "Legacy",
    description: `Stops as a JSON list. ${filterRule} \`stop\` may stand before a name. Cancelled stops are left out unless \`status\` asks for them.`,
    query: [
      filter("stopNbr", "Number of the stop.", "1001"),
      filter("status", "State of the stop; `99` are the cancelled ones."),
      filter("sealNbr", "Seal number."),
      filter("shipmentNbr", "Shipment number."),
      filter("loadNbr", "Number of the load that it is on."),
      ...paging,
    ],
    answer: {
      ...jsonAnswerOf("The stops that match.", Type.Array(LegacyStop), [
        {
          stopNbr: "1001",
          status: "10",
          shipToName: "Corner Shop",
          shipToAddr1: "12 Main Street",
          earliestStartDttm: "Nov 6, 2026 8:00:00 AM",
          latestStartDttm: "Nov 6, 2026 12:00:00 PM",
          sealNbr: "SEAL-1",
          documents: [],
          stopDetails: [],
        },
      ]),
      headers: total,
    },
    errors: ["unknownFilter", "tooLarge"],
  },
  findLegacyLoads: {
    tag: "Legacy",
    description: `Loads as a JSON list. ${filterRule} \`load\` may stand before a name.`,
    query: [
      filter("loadNbr", "Number of the load.", "L-1001"),
      filter("status", "State of the load."),
      filter("reference", "Reference."),
      ...paging,
    ],
    answer: {
      ...jsonAnswerOf("The loads that match.", Type.Array(LegacyLoad), [
        {
          loadId: 482_160_937,
          loadNbr: "L-1001",
          status: "10",
          originName: "Depot South",
          totalStops: 2,
          weight: { value: 420 },
          companyId: { companyId: 730_118_426, companyName: "DEMO" },
          earliestStartDttm: "Nov 6, 2026 6:00:00 AM",
          latestStartDttm: "Nov 6, 2026 7:00:00 AM",
        },
      ]),
      headers: total,
    },
    errors: ["unknownFilter", "tooLarge"],
  },
  getLegacyDocument: {
    tag: "Legacy",
    description:
      "The bytes of a document, named by the `reference` of a document object. Takes `Range` and `If-None-Match`.",
    answer: {
      description: "The content of the document.",
      contentType: "application/octet-stream",
      schema: Type.Unknown(),
      headers: {
        "Content-Disposition": "The name of the document.",
        ETag: "Names the content.",
      },
    },
    otherAnswers: {
      206: {
        description: "The part of the content that `Range` asks for.",
        contentType: "application/octet-stream",
        schema: Type.Unknown(),
        headers: { "Content-Range": "Which part it is." },
      },
      304: { description: "The client has this content already." },
      416: {
        description: "There is no such part.",
        headers: { "Content-Range": "The size of the content." },
      },
    },
    errors: ["documentNotFound"],
  },
};

const eventDescriptions: ApiDescriptions = {
  listEvents: {
    tag: "Events",
    description:
      "What has been recorded of a stop or a load, oldest first. Send `stopNbr`, `loadNbr` or both.",
    query: [
      filter("stopNbr", "Number of the stop.", "1001"),
      filter("loadNbr", "Number of the load."),
      filter(
        "since",
        "The `eventId` of the last event that is known, or a date-time in UTC from which on events are wanted.",
      ),
      {
        name: "limit",
        description: "How many events at most.",
        schema: Type.Integer({ minimum: 1, maximum: maxEventLimit, default: defaultEventLimit }),
      },
    ],
    answer: jsonAnswerOf("The events.", EventList, {
      Events: [
        {
          eventId: "5c1e0f2a-7d3b-49c6-8a10-2f6e9b04d7c3",
          eventCode: recordedEvents.stopUpdated.code,
          eventName: recordedEvents.stopUpdated.name,
          stopNbr: "1001",
          eventDTTM: "2026-11-05T14:00:00",
          eventTz: "UTC",
        },
      ],
    }),
    errors: ["unknownFilter", "missing", "badDate", "stopNotFound", "loadNotFound"],
  },
};

const figures = "# TYPE dropgate_waiting_files gauge\n";
const html = "<!doctype html>";

function textAnswer(description: string, contentType: string, example: string) {
  return { description, contentType, schema: Type.String(), example };
}

const ready = { store: true, ledger: true, parser: true, http: true, sftp: true };

const publicDescriptions: ApiDescriptions = {
  healthz: {
    tag: "Service",
    description: "`ok` as long as the process answers.",
    answer: textAnswer("The process answers.", textType, "ok\n"),
    errors: [],
  },
  readyz: {
    tag: "Service",
    description: "Whether the last self-check was fine.",
    answer: jsonAnswerOf("Work is taken.", Health, { status: "ready", checks: ready }),
    otherAnswers: {
      503: jsonAnswerOf("Work is not taken at the moment.", Health, {
        status: "not ready",
        checks: { ...ready, store: false },
      }),
    },
    errors: [],
  },
  metrics: {
    tag: "Service",
    description: "Figures in the text form of Prometheus, for the addresses of `http.metricsFrom` only.",
    answer: textAnswer("The figures.", "text/plain; version=0.0.4; charset=utf-8", figures),
    errors: ["noSuchOperation"],
  },
  openApiDocument: {
    tag: "Service",
    description: "This document.",
    answer: jsonAnswerOf("OpenAPI 3.1.", Type.Object({ openapi: Type.String() }), { openapi: "3.1.0" }),
    errors: [],
  },
  apiPage: {
    tag: "Service",
    description: "The page that shows this document and tries operations out.",
    answer: textAnswer("The page.", "text/html; charset=utf-8", html),
    errors: [],
  },
};

export const serviceDescriptions: ApiDescriptions = {
  ...eventDescriptions,
  ...legacyDescriptions,
  ...publicDescriptions,
};
