/** The API document's texts and examples for stops and ASNs. */
import { type ApiDescriptions, bodyErrors, importErrors, jsonAnswerOf, success } from "./api-description.ts";
import { CarrierAssignmentBody, StopCancellationBody, StopImport, StopRetrieval } from "./api-schemas.ts";

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

const notExecuted = {
  plannedEtaDTTM: null,
  arrivalDTTM: null,
  confirmedDTTM: null,
  departureDTTM: null,
  duration: null,
};

/** The execution info of a stop that nobody has been to. */
export const openStopExecution = {
  stopStatus: "10",
  receiveStatus: "00",
  receiveDTTM: null,
  from: notExecuted,
  to: notExecuted,
  exceptionPresent: false,
  exceptions: [],
  cancellation: null,
};

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

const allOrNothing =
  "All or nothing: one faulty entry refuses the request, with a reason for each fault and its path.";

export const stopDescriptions: ApiDescriptions = {
  getStopDetail: {
    tag: "Stops",
    description:
      "The stop as it was sent last, the load it is on, and its execution. Numbers are matched exactly.",
    answer: jsonAnswerOf("The stop.", StopRetrieval, {
      Stop: {
        stop: retrieved,
        load: { loadNbr: null, driverName: null, vehicleNbr: null },
        stopExecutionInfo: openStopExecution,
      },
    }),
    errors: ["stopNotFound"],
  },
  importStops: {
    tag: "Stops",
    description:
      `Creates stops, or replaces those in 00, 05, 10 and 20 as a whole; one in 80 is reopened. ${allOrNothing} ` +
      "`to` may stand inside `from`, and `comments` may be a single object.",
    request: { schema: StopImport, example: { companyCode: "DEMO", stops: [stop] } },
    answer: success,
    errors: [...importErrors, "unknownService", "partnerNotFound", "stopInTransit", "finalState"],
  },
  assignStopCarrier: {
    tag: "Stops",
    description: "Gives a stop in 00, 05, 10 or 20 to a carrier (business partner). Its state stays.",
    request: { schema: CarrierAssignmentBody, example: { carrierCode: "CARRIER1" } },
    answer: success,
    errors: [...bodyErrors, "stopNotFound", "partnerNotFound", "stopInTransit", "finalState"],
  },
  unassignStopCarrier: {
    tag: "Stops",
    description: "Takes a stop from the carrier that the body names.",
    request: { schema: CarrierAssignmentBody, example: { carrierCode: "CARRIER1" } },
    answer: success,
    errors: [...bodyErrors, "stopNotFound", "notAssigned", "stopInTransit", "finalState"],
  },
  rejectStop: {
    tag: "Stops",
    description: "Deletes (rejects) a stop in 05 or 10 with a reason. An import creates it anew.",
    request: {
      schema: StopCancellationBody,
      example: { stopNbr: "1001", reasonCode: "NOSTOCK", reasonComments: "Sold out." },
    },
    answer: success,
    errors: [...bodyErrors, "stopNotFound", "stopNotOpen"],
  },
  importAsns: {
    tag: "ASNs",
    description: `Announces stops: creates them in 00 (InboundShipment), or replaces those in 00. ${allOrNothing}`,
    request: { schema: StopImport, example: { companyCode: "DEMO", stops: [asn] } },
    answer: success,
    errors: [...importErrors, "unknownService", "partnerNotFound", "stopNotAsn"],
  },
  rejectAsn: {
    tag: "ASNs",
    description: "Deletes (rejects) an ASN, a stop in 00, with a reason.",
    request: {
      schema: StopCancellationBody,
      example: { stopNbr: "3001", reasonCode: "LOST", reasonComments: "Never arrived at the depot." },
    },
    answer: success,
    errors: [...bodyErrors, "stopNotFound", "stopNotAsn"],
  },
};
