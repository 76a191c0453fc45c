/** Stops and ASNs of the gateway (specification/gateway.md#operations). */
import { importAsns, importStops } from "../../../operations/imports/import-stops.ts";
import { StopCancellation } from "../../../operations/stops/cancellation-request.ts";
import { CarrierAssignment } from "../../../operations/stops/carrier-assignment.ts";
import { rejectAsn, rejectStop } from "../../../operations/stops/reject-stop.ts";
import { assignStopCarrier, unassignStopCarrier } from "../../../operations/stops/stop-carrier.ts";
import { readStopDetail } from "../../../operations/stops/stop-detail.ts";
import {
  bodyErrors,
  type CompanyOperation,
  importErrors,
  jsonAnswerOf,
  stopImportErrors,
} from "../openapi/api-description.ts";
import { StopImport, StopRetrieval, withCompany } from "../openapi/api-schemas.ts";
import {
  allOrNothing,
  answersDocument,
  answersSuccess,
  bodyNumbered,
  bodyOf,
  gatewayRead,
  gatewayWrite,
  numbered,
  openStopExecution,
  serviceImportOf,
} from "./operation-parts.ts";

const shop = {
  address: {
    name: "Corner Shop",
    addr1: "12 Main Street",
    city: "Springfield",
    state: "IL",
    zip: "62701",
    country: "US",
    latitude: 39.8017,
    longitude: -89.6436,
  },
  contact: { contactName: "Ada Brown", email: "ada.brown@example.com", phone: "+1 217 555 0100", sms: "" },
  schedule: {
    timeFrom: "2026-11-06T08:00:00",
    timeTo: "2026-11-06T12:00:00",
    timeZone: "America/Chicago",
    estDuration: 15,
  },
  signatureRequired: true,
};

const stop = {
  stopNbr: "1001",
  stopType: "DO",
  to: shop,
  shipmentNbr: "SH-77",
  sealNbr: "SEAL-1",
  totalCartons: 2,
  weight: "18.5",
  weightUOM: "kg",
  stopDetails: [
    {
      stopDetailSeq: 1,
      product: "Paper towels",
      productIdentifier: "PT-12",
      quantity: 2,
      quantityUOM: "cartons",
    },
  ],
  comments: [{ commentType: "DRIVER", commentDescription: "Ring at the back door." }],
  documents: [
    {
      documentName: "gate-plan",
      documentExtType: "txt",
      documentType: "PLAN",
      documentData: "UmluZyBhdCB0aGUgYmFjayBkb29yLgo=",
    },
  ],
};

const asn = { stopNbr: "3001", stopType: "DO", to: { address: shop.address }, totalPallets: 1 };

const { estDuration: _duration, ...schedule } = shop.schedule;
const retrieved = {
  ...stop,
  to: { ...shop, schedule: { ...schedule, estimatedDuration: "15" } },
  documents: [
    {
      documentName: "gate-plan",
      documentExtType: "txt",
      documentType: "PLAN",
      reference: "7f8c2a50-9f5e-4a57-8f1d-6b1f3c2f9a10",
    },
  ],
};

const bodyForStop = bodyNumbered("stopNbr");

const stopRead = { ...gatewayRead, tag: "Stops" } as const;
const stopWrite = { ...gatewayWrite, tag: "Stops" } as const;

export const stopOperations: readonly CompanyOperation[] = [
  {
    ...stopRead,
    name: "getStopDetail",
    summary: "Get stop detail",
    path: "/stop/info/{stopNbr}/{companyCode}",
    description:
      "The stop as it was sent last, the load it is on, and its execution. Numbers are matched exactly.",
    answer: jsonAnswerOf("The stop.", StopRetrieval, {
      Stop: {
        stop: retrieved,
        load: { loadNbr: null, driverName: null, vehicleNbr: null },
        stopExecutionInfo: openStopExecution,
      },
    }),
    after: ["importStops"],
    errors: ["stopNotFound"],
    run: answersDocument(readStopDetail, numbered("stopNbr")),
  },
  {
    ...stopWrite,
    name: "importStops",
    summary: "Import stops",
    path: "/stop/update/{serviceName}/{companyCode}",
    isMappable: true,
    takesLarge: true,
    description:
      `Creates stops, or replaces those in 00, 05, 10 and 20 as a whole; one in 80 is reopened. ${allOrNothing} ` +
      "`to` may stand inside `from`, and `comments` may be a single object.",
    request: { schema: StopImport, example: { companyCode: "DEMO", stops: [stop] } },
    errors: stopImportErrors,
    run: answersSuccess(importStops, serviceImportOf),
  },
  {
    ...stopWrite,
    name: "assignStopCarrier",
    summary: "Assign stop to carrier",
    path: "/stop/assign/carrier/{stopNbr}/{companyCode}",
    description: "Gives a stop in 00, 05, 10 or 20 to a carrier (business partner). Its state stays.",
    request: { schema: withCompany(CarrierAssignment), example: { carrierCode: "CARRIER1" } },
    after: ["updateBusinessPartners", "importStops"],
    errors: [...bodyErrors, "stopNotFound", "partnerNotFound", "stopInTransit", "finalState"],
    run: answersSuccess(assignStopCarrier, bodyForStop),
  },
  {
    ...stopWrite,
    name: "unassignStopCarrier",
    summary: "Unassign stop from carrier",
    path: "/stop/unassign/carrier/{stopNbr}/{companyCode}",
    description: "Takes a stop from the carrier that the body names.",
    request: { schema: withCompany(CarrierAssignment), example: { carrierCode: "CARRIER1" } },
    after: ["updateBusinessPartners", "importStops", "assignStopCarrier"],
    errors: [...bodyErrors, "stopNotFound", "notAssigned", "stopInTransit", "finalState"],
    run: answersSuccess(unassignStopCarrier, bodyForStop),
  },
  {
    ...stopWrite,
    name: "rejectStop",
    summary: "Delete/reject stop",
    path: "/stop/cancel/{companyCode}",
    description: "Deletes (rejects) a stop in 05 or 10 with a reason. An import creates it anew.",
    request: {
      schema: withCompany(StopCancellation),
      example: { stopNbr: "1001", reasonCode: "NOSTOCK", reasonComments: "Sold out." },
    },
    after: ["importStops"],
    errors: [...bodyErrors, "stopNotFound", "stopNotOpen"],
    run: answersSuccess(rejectStop, bodyOf),
  },
  {
    ...gatewayWrite,
    name: "importAsns",
    summary: "Import ASN",
    path: "/asn/update/{serviceName}/{companyCode}",
    isMappable: true,
    takesLarge: true,
    tag: "ASNs",
    description: `Announces stops: creates them in 00 (InboundShipment), or replaces those in 00. ${allOrNothing}`,
    request: { schema: StopImport, example: { companyCode: "DEMO", stops: [asn] } },
    errors: [...importErrors, "unknownService", "partnerNotFound", "stopNotAsn"],
    run: answersSuccess(importAsns, serviceImportOf),
  },
  {
    ...gatewayWrite,
    name: "rejectAsn",
    summary: "Delete/reject ASN",
    path: "/asn/cancel/{companyCode}",
    tag: "ASNs",
    description: "Deletes (rejects) an ASN, a stop in 00, with a reason.",
    request: {
      schema: withCompany(StopCancellation),
      example: { stopNbr: "3001", reasonCode: "LOST", reasonComments: "Never arrived at the depot." },
    },
    after: ["importAsns"],
    errors: [...bodyErrors, "stopNotFound", "stopNotAsn"],
    run: answersSuccess(rejectAsn, bodyOf),
  },
];
