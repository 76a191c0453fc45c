/**
 * The elements of the stop document: the one table that the XSD is generated from and that reader and writer use
 * (specification/stop-document.md#elements). A row has the element's name, the canonical field, the kind of its value
 * and its description.
 */
import { stopDetailElements } from "./stop-detail-elements.ts";
import {
  addressRows,
  commentElements,
  groupOf,
  type ListElement,
  listOf,
  markforElement,
  measure,
  type ObjectElement,
  requiredValues,
  type StopElement,
  type ValueElement,
  values,
} from "./stop-element.ts";

const customAttributes: ListElement = listOf(
  ["CustomAttributes", "customAttributes", "Named values of the customer's own."],
  {
    name: "CustomAttribute",
    about: "One named value.",
    children: values([
      ["KeyField", "keyField", "text", "Name of the value."],
      ["KeyValue", "keyValue", "text", "The value."],
    ]),
  },
);

const accessorials: ListElement = listOf(
  ["Accessorials", "stopAccessorials", "Additional services at the stop."],
  {
    name: "Accessorial",
    about: "One additional service.",
    children: values([
      ["Code", "code", "text", "Code of the service."],
      ["Comments", "comments", "text", "Comment on the service."],
    ]),
  },
);

export const documentElements: ListElement = listOf(
  ["Documents", "documents", "Files that travel with the stop."],
  {
    name: "Document",
    about: "One file.",
    children: [
      ...values([
        ["DocumentName", "documentName", "text", "File name."],
        ["DocumentType", "documentType", "text", "Type of the document."],
        ["DocumentExtType", "documentExtType", "text", "Type of the file, such as PDF."],
        ["DispositionType", "dispositionType", "text", "What is to be done with it."],
        ["DocumentCategory", "documentCategory", "text", "Category of the document."],
        ["Reference", "reference", "text", "GUID of the stored document."],
        ["Description", "description", "text", "What the document is."],
        ["DocumentData", "documentData", "base64", "Content of the file, base64."],
      ]),
      listOf(["Signatories", "docSignatories", "Who is to sign."], {
        name: "Signatory",
        about: "One person.",
        children: values([
          ["Role", "role", "text", "Role in which the person signs."],
          ["SignatoryName", "signatoryName", "text", "Name of the person."],
          ["Optional", "optional", "boolean", "Whether the signature may be missing."],
        ]),
      }),
    ],
  },
);

export const stopAssignmentElement: ObjectElement = groupOf(
  ["StopAssignment", "The carrier of the stop; counts with Function 03."],
  values([
    ["CarrierCode", "stopAssignment.carrierCode", "text", "Carrier (business partner); empty unassigns."],
    ["AssignmentCriteria", "stopAssignment.assignmentCriteria", "text", "01 also finds an available driver."],
  ]),
);

/** `Function` is an instruction and not a field of the stop, so it stands beside the table of fields. */
export const functionElement: ValueElement = {
  shape: "value",
  name: "Function",
  path: "function",
  kind: "functionCode",
  about:
    "01 creates or updates, 02 deletes, 03 creates or updates and assigns or unassigns a carrier. With 02 only Function and StopNbr count.",
  isRequired: true,
};

/** The children of `Stop` that carry its canonical fields. */
export const stopElements: readonly StopElement[] = [
  ...requiredValues([["StopNbr", "stopNbr", "identifier", "Number of the stop, unique within the company."]]),
  ...values([
    ["StopSeq", "stopSeq", "text", "Position of the stop in its load."],
    ["StopType", "stopType", "stopType", "01 or PU for a pickup, 02 or DO for a drop-off."],
    ["ShipmentNbr", "shipmentNbr", "text", "Shipment number."],
    ["Profile", "profile", "text", "Profile of the stop."],
    ["ConsAttribute", "consAttribute", "text", "Consolidation attribute."],
    ["HubId", "hubId", "text", "Hub of the stop."],
    ["TrailerCode", "trailerCode", "text", "Trailer of the stop."],
    ["ShipForBP", "shipForBP", "text", "Business partner it is shipped for."],
    ["ShipperCode", "shipperCode", "text", "Code of the shipper."],
    ["SealNbr", "sealNbr", "text", "Seal number."],
    ["BOL", "bol", "text", "Bill of lading."],
    ["FreightTerms", "freightTerms", "text", "Freight terms."],
    ["ProNumber", "proNumber", "text", "Progressive number of the carrier."],
    ["Reference1", "reference1", "text", "First free reference."],
    ["Reference2", "reference2", "text", "Second free reference."],
    ["AccountNumber", "accountNumber", "text", "Account of the customer."],
    ["StopPriority", "stopPriority", "text", "Priority of the stop."],
    ["AltStopSeq", "altStopSeq", "text", "Alternative position of the stop."],
    ["ScheduleAttribute", "scheduleAttribute", "text", "Scheduling attribute."],
    ["LaneNumber", "laneNumber", "text", "Lane at the dock."],
    ["DeliveryAttempt", "deliveryAttempt", "number", "Which attempt this is."],
    ["MarkAsReceived", "markAsReceived", "boolean", "Whether the goods have been received at the warehouse."],
    ["ReceivedDTTM", "receivedDttm", "dateTime", "When they were received, local time."],
    [
      "DOConfirmation",
      "doConfirmation",
      "text",
      "How the drop-off is confirmed, such as 00, 01, SKIP, SCAN-VER.",
    ],
    [
      "PUConfirmation",
      "puConfirmation",
      "text",
      "How the pickup is confirmed, such as 00, 01, SKIP, SCAN-VER.",
    ],
    ["TotalPrice", "totalPrice", "numberText", "Price of everything."],
    ["StopGeofenceRadius", "stopGeofenceRadius", "number", "Radius of the geo-fence in metres."],
    ...addressRows("ShipTo", "to.address", "the destination"),
    ["ShipToLandmark", "to.address.landmark", "text", "Landmark near the destination."],
    ["Latitude", "to.address.latitude", "number", "Latitude of the destination."],
    ["Longitude", "to.address.longitude", "number", "Longitude of the destination."],
    ["ShipToTxnRef", "to.txnRef", "number", "Reference of the transaction at the destination."],
    ["ShipToSeq", "to.seq", "text", "Sequence at the destination."],
    ["ShipToContactName", "to.contact.contactName", "text", "Contact person at the destination."],
    ["PhoneNumber", "to.contact.phone", "text", "Telephone number at the destination."],
    ["Email", "to.contact.email", "text", "E-mail address at the destination."],
    ["SMSNumber", "to.contact.sms", "text", "Number for text messages at the destination."],
    ["EarliestStartDTTM", "to.schedule.timeFrom", "dateTime", "Begin of the time window, local time."],
    ["LatestStartDTTM", "to.schedule.timeTo", "dateTime", "End of the time window, local time."],
    ["TimeZone", "to.schedule.timeZone", "timeZone", "Time zone of the window."],
    [
      "EstimatedDuration",
      "to.schedule.estimatedDuration",
      "numberText",
      "Expected duration of the stop in minutes.",
    ],
    ["SignatureRequired", "to.signatureRequired", "boolean", "Whether a signature is required."],
    ["ImageRequired", "to.imageRequired", "boolean", "Whether a photo is required."],
    ["WorkType", "to.workType", "text", "Type of work at the destination."],
    ["FeedbackForm", "to.feedbackForm", "text", "Form the recipient fills in."],
    ...addressRows("ShipFrom", "from.address", "the origin"),
    ["ShipFromLandmark", "from.address.landmark", "text", "Landmark near the origin."],
    ["ShipFromLatitude", "from.address.latitude", "number", "Latitude of the origin."],
    ["ShipFromLongitude", "from.address.longitude", "number", "Longitude of the origin."],
    ["ShipFromContactName", "from.contact.contactName", "text", "Contact person at the origin."],
    ["ShipFromPhoneNumber", "from.contact.phone", "text", "Telephone number at the origin."],
    ["ShipFromEmail", "from.contact.email", "text", "E-mail address at the origin."],
    ["ShipFromSMSNumber", "from.contact.sms", "text", "Number for text messages at the origin."],
    ["PickupEarliestDTTM", "from.schedule.timeFrom", "dateTime", "Begin of the pickup window, local time."],
    ["PickupLatestDTTM", "from.schedule.timeTo", "dateTime", "End of the pickup window, local time."],
    ["PickupTimeZone", "from.schedule.timeZone", "timeZone", "Time zone of the pickup window."],
    [
      "PickupEstimatedDuration",
      "from.schedule.estimatedDuration",
      "numberText",
      "Expected duration in minutes.",
    ],
    ["ShipFromTxnRef", "from.txnRef", "number", "Reference of the transaction at the origin."],
    ["ShipFromSeq", "from.seq", "text", "Sequence at the origin."],
    ["ShipFromSignatureRequired", "from.signatureRequired", "boolean", "Whether the pickup is signed for."],
    ["ShipFromImageRequired", "from.imageRequired", "boolean", "Whether the pickup needs a picture."],
    ["ShipFromWorkType", "from.workType", "text", "Type of the work at the origin."],
    ["ShipFromFeedbackForm", "from.feedbackForm", "text", "Form that is filled in at the origin."],
    ...addressRows("BillTo", "billTo", "the payer"),
    ["BillToLandmark", "billTo.landmark", "text", "Landmark near the payer."],
    ["BillToLatitude", "billTo.latitude", "number", "Latitude of the payer."],
    ["BillToLongitude", "billTo.longitude", "number", "Longitude of the payer."],
  ]),
  measure("Weight", "weight", "Weight of everything."),
  measure("Volume", "volume", "Volume of everything."),
  measure("CriticalDimension", "criticalDimension", "The dimension that limits the choice of vehicle."),
  ...values([
    ["TotalPallets", "totalPallets", "numberText", "Number of pallets."],
    ["TotalCartons", "totalCartons", "numberText", "Number of cartons."],
  ]),
  commentElements,
  customAttributes,
  markforElement,
  accessorials,
  documentElements,
  stopDetailElements,
  stopAssignmentElement,
];
