/**
 * The elements of `StopCompletion`: the one table that completion files are written by and that
 * `xsd/stop-completion.xsd` is generated from (specification/outbound.md#content). They are those of the inbound `Stop`
 * without `Function`, which is an instruction to this service and not a field of the stop, and what was executed.
 *
 * Paths that begin with `completion` and `reported` are those of `completionView`.
 */
import type { CompletionFormat } from "../../domain/outbound/completion-format.ts";
import type { OutgoingKindName } from "./outgoing-kinds.ts";
import { stopDetailElements } from "../elements/stop-detail-elements.ts";
import {
  groupOf,
  type ListElement,
  listOf,
  measure,
  type ObjectElement,
  requiredValues,
  type StopElement,
  values,
} from "../elements/stop-element.ts";
import { documentElements, stopAssignmentElement, stopElements } from "../elements/stop-elements.ts";

type Outgoing = StopElement<OutgoingKindName>;

const exceptionReason: ObjectElement<OutgoingKindName> = groupOf(
  ["ExceptionReason", "Why the line was not confirmed as planned, as the driver reported it."],
  values([
    ["Code", "reported.exceptionReasonCode", "text", "Code of the reason."],
    ["Comments", "reported.exceptionComments", "text", "Comment on it."],
  ]),
);

const unit = { name: "UOM", path: "quantityUOM", about: "Unit of the line's quantity." };

const reportedElements: readonly Outgoing[] = [
  {
    ...measure("ConfirmedQuantity", "reported.confirmedQty", "How much the driver confirmed."),
    attribute: unit,
  },
  { ...measure("ScannedQuantity", "reported.scannedQty", "How much the driver scanned."), attribute: unit },
  exceptionReason,
];

const completedDetails: ListElement<OutgoingKindName> = {
  ...stopDetailElements,
  item: {
    ...stopDetailElements.item,
    children: [...stopDetailElements.item.children, ...reportedElements],
  },
};

const assignment: ObjectElement<OutgoingKindName> = {
  ...stopAssignmentElement,
  about: "The carrier of the stop.",
  children: values([
    ["CarrierCode", "stopAssignment.carrierCode", "text", "Carrier (business partner)."],
    ["AssignmentCriteria", "stopAssignment.assignmentCriteria", "text", "Criteria of the assignment."],
  ]),
};

/** The inbound elements whose words are those of an instruction, and those that hold more here. */
const replaced = new Map<string, Outgoing>([
  [
    "StopType",
    {
      shape: "value",
      name: "StopType",
      path: "stopType",
      kind: "stopType",
      about: "PU for a pickup, DO for a drop-off.",
    },
  ],
  [completedDetails.name, completedDetails],
  [assignment.name, assignment],
]);

function visit(name: string, path: string, about: string): ObjectElement<OutgoingKindName> {
  return groupOf(
    [name, about],
    values([
      ["PlannedEtaDTTM", `${path}.plannedEtaDTTM`, "dateTime", "Last planned arrival, local time."],
      [
        "PlannedEtaTimeZone",
        `${path}.plannedEtaTz`,
        "timeZone",
        "Zone of PlannedEtaDTTM, which is that of the stop.",
      ],
      ["ArrivalDTTM", `${path}.arrivalDTTM`, "dateTime", "Arrival, local time."],
      ["ConfirmedDTTM", `${path}.confirmedDTTM`, "dateTime", "Confirmation, local time."],
      ["DepartureDTTM", `${path}.departureDTTM`, "dateTime", "Departure, local time."],
      ["TimeZone", `${path}.arrivalTz`, "timeZone", "Zone in which the arrival was reported."],
      ["Duration", `${path}.duration`, "count", "Minutes from arrival to departure."],
    ]),
  );
}

const cancellation: ObjectElement<OutgoingKindName> = groupOf(
  ["Cancellation", "Why the stop was cancelled."],
  values([
    ["ReasonCode", "completion.cancellation.reasonCode", "text", "Code of the reason."],
    ["ReasonDesc", "completion.cancellation.reasonDesc", "text", "Comment on it."],
    ["CancelDTTM", "completion.cancellation.cancelDTTM", "dateTime", "When, local time."],
    ["CancelTimeZone", "completion.cancellation.cancelTimeZone", "timeZone", "Zone of that time."],
  ]),
);

const execution: ObjectElement<OutgoingKindName> = {
  shape: "object",
  name: "Execution",
  about: "What was done, by whom and when. Times are local, in the zone in which they were reported.",
  isRequired: true,
  children: [
    ...requiredValues<OutgoingKindName>([
      [
        "StopStatus",
        "completion.stopStatus",
        "stopStatus",
        "State of the stop at the event that the file was written for.",
      ],
    ]),
    ...values<OutgoingKindName>([
      [
        "ActualStartDTTM",
        "completion.actualStartDTTM",
        "dateTime",
        "When work began: the arrival at the pickup, else at the drop-off.",
      ],
      [
        "ActualEndDTTM",
        "completion.actualEndDTTM",
        "dateTime",
        "When the stop was completed or closed. Missing in any other state.",
      ],
      [
        "ArrivalDTTM",
        "completion.arrivalDTTM",
        "dateTime",
        "Arrival at the drop-off; of a pickup only (StopType PU) at the pickup.",
      ],
      ["DepartureDTTM", "completion.departureDTTM", "dateTime", "Departure from there, once it is known."],
      ["DriverName", "completion.driver.fullName", "text", "Name of the driver."],
      ["DriverUserName", "completion.driver.userName", "text", "User name of the driver."],
      ["LoadNbr", "completion.loadNbr", "text", "Load (route) that the stop is on."],
      [
        "ActualDuration",
        "completion.actualDuration",
        "count",
        "Minutes from ArrivalDTTM to DepartureDTTM, or to ActualEndDTTM while no departure is known.",
      ],
    ]),
    visit("Pickup", "completion.pickup", "The visit at the pickup."),
    visit("DropOff", "completion.dropOff", "The visit at the drop-off."),
    cancellation,
  ],
};

const exceptions: ListElement<OutgoingKindName> = listOf(
  [
    "StopExceptions",
    "completion.exceptions",
    "What went wrong at the stop, in the order in which it was reported.",
  ],
  {
    name: "StopException",
    about: "One exception; of a closed stop the reason for closing it.",
    children: values([
      ["ExceptionCode", "exceptionCode", "text", "Code of the exception."],
      ["ExceptionDesc", "exceptionDesc", "text", "Comment on it."],
    ]),
  },
);

const signature: ObjectElement<OutgoingKindName> = groupOf(
  ["Signature", "The signature that was captured last."],
  values([
    ["Reference", "completion.signature.reference", "text", "GUID of the stored document."],
    ["Signee", "completion.signature.signee", "text", "Who signed."],
    ["SigneeRole", "completion.signature.signeeRole", "text", "Role in which that person signed."],
    ["DocumentName", "completion.signature.documentName", "text", "File name."],
    ["DocumentType", "completion.signature.documentType", "text", "Type of the document."],
    ["DocumentExtType", "completion.signature.documentExtType", "text", "Type of the file, such as png."],
    ["DocumentData", "completion.signature.documentData", "base64", "Content, when contents are embedded."],
  ]),
);

const events: ListElement<OutgoingKindName> = listOf(
  ["Events", "completion.events", "What was recorded of the stop, in the order in which it was recorded."],
  {
    name: "Event",
    about: "One recorded event.",
    children: [
      ...requiredValues<OutgoingKindName>([
        ["EventId", "eventId", "eventCode", "Number of the event, such as 7009."],
        ["EventName", "eventName", "text", "Its name, such as STOP DELIVERY."],
        ["ReportedDTTM", "reportedDTTM", "dateTime", "When it happened, in the zone beside it."],
      ]),
      ...values<OutgoingKindName>([
        [
          "TimeZone",
          "timeZone",
          "timeZone",
          "Zone of ReportedDTTM; UTC for what the service recorded itself.",
        ],
        ["Latitude", "latitude", "number", "Where it was reported."],
        ["Longitude", "longitude", "number", "Where it was reported."],
      ]),
      { ...documentElements, about: "Files that the event brought." },
    ],
  },
);

/** Elements that completions of the first version do not have. */
const sinceSecond: ReadonlySet<string> = new Set([
  "Markfor",
  "ShipToTxnRef",
  "ShipToSeq",
  "ShipFromTxnRef",
  "ShipFromSeq",
  "ShipFromSignatureRequired",
  "ShipFromImageRequired",
  "ShipFromWorkType",
  "ShipFromFeedbackForm",
  "BillToLandmark",
  "BillToLatitude",
  "BillToLongitude",
]);

/** The children of `StopCompletion` in a version. */
export function completionElementsOf(format: CompletionFormat): readonly Outgoing[] {
  return format === 1 ? completionElements.filter(({ name }) => !sinceSecond.has(name)) : completionElements;
}

/** The children of `StopCompletion` in the newest version, in the order in which they are written. */
export const completionElements: readonly Outgoing[] = [
  ...values<OutgoingKindName>([
    ["CompanyCode", "completion.companyCode", "text", "The company that the stop belongs to."],
  ]),
  ...stopElements.map((element) => replaced.get(element.name) ?? element),
  execution,
  exceptions,
  signature,
  events,
  ...requiredValues<OutgoingKindName>([
    [
      "TriggeredByEvent",
      "completion.triggeredBy",
      "eventCode",
      "Number of the event that the file was written for.",
    ],
  ]),
];
