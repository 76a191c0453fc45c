/** The elements of `StopDetails`; part of the table in `stop-elements.ts`. */
import {
  commentElements,
  groupOf,
  type ListElement,
  listOf,
  markforElement,
  measure,
  type ObjectElement,
  type StopElement,
  values,
} from "./stop-element.ts";

const confirmed: ObjectElement = groupOf(
  ["Confirmed", "What was confirmed, scanned and received."],
  values([
    ["ConfirmedQty", "confirmed.confirmedQty", "numberText", "Quantity confirmed at drop-off."],
    ["ScannedQty", "confirmed.scannedQty", "numberText", "Quantity scanned at drop-off."],
    ["PuConfirmedQty", "confirmed.puConfirmedQty", "numberText", "Quantity confirmed at pickup."],
    ["PuScannedQty", "confirmed.puScannedQty", "numberText", "Quantity scanned at pickup."],
    ["ExceptionReasonCode", "confirmed.exceptionReasonCode", "text", "Reason of a difference."],
    ["ExceptionComments", "confirmed.exceptionComments", "text", "Comment on a difference."],
    ["RcvQty", "confirmed.rcvQty", "numberText", "Quantity received at the warehouse."],
    ["RcvScndQty", "confirmed.rcvScndQty", "numberText", "Quantity scanned at the warehouse."],
  ]),
);

const cartonContents: ListElement = listOf(["CartonContents", "cartonContents", "What the carton holds."], {
  name: "Carton",
  about: "One item in the carton.",
  children: values([
    ["ItemId", "itemId", "text", "Identifier of the item."],
    ["Description", "description", "text", "Description of the item."],
    ["Qty", "qty", "number", "How many of it."],
  ]),
});

const stopDetailChildren: readonly StopElement[] = [
  ...values([
    ["StopDetailSeq", "stopDetailSeq", "number", "Position of the line."],
    ["Product", "product", "text", "Name of the product."],
    [
      "ProductIdentifier",
      "productIdentifier",
      "text",
      "Identifies the product at delivery; may be a barcode.",
    ],
  ]),
  measure("Quantity", "quantity", "How many."),
  measure("Weight", "weight", "Weight of the line."),
  measure("Volume", "volume", "Volume of the line."),
  measure("Length", "length", "Length of the product."),
  measure("Width", "width", "Width of the product."),
  measure("Height", "height", "Height of the product."),
  measure("CriticalDimension", "criticalDimension", "The dimension that limits the choice of vehicle."),
  ...values([
    ["PalletID", "palletID", "text", "Pallet the line is on."],
    ["OrderDate", "orderDate", "date", "Date of the order; a full date-time with Z is taken."],
    ["ToteID", "toteID", "text", "Tote the line is in."],
    ["TrailerCode", "trailerCode", "text", "Trailer the line is on."],
    ["RatingGroup", "ratingGroup", "text", "Group for rating."],
    ["SignatureGroup", "signatureGroup", "text", "Lines of one group are signed for together."],
    ["DeliveryType", "deliveryType", "text", "DO for drop-off, PU for pickup."],
    ["CustomerPO", "customerPO", "text", "Purchase order number of the customer."],
    ["CustRouteNbr", "custRouteNbr", "text", "Route number of the customer."],
    ["CustStopNbr", "custStopNbr", "text", "Stop number of the customer."],
    ["CustomerOrderNbr", "customerOrderNbr", "text", "Order number of the customer."],
    ["InvoiceNbr", "invoiceNbr", "text", "Invoice number."],
    ["InvoiceDate", "invoiceDate", "date", "Date of the invoice."],
    ["PickingNumber", "pickingNumber", "text", "Picking number."],
    ["AccountNumber", "accountNumber", "text", "Account of the customer."],
    ["ConfirmationType", "confirmationType", "text", "How the line is confirmed."],
    ["LineType", "lineType", "text", "Type of the line."],
    ["ReferenceText", "referenceText", "text", "Free reference."],
    ["OriginalLineNumber", "originalLineNumber", "text", "Line number in the original order."],
    ["ServiceCategory", "serviceCategory", "text", "Category of service."],
    ["UnitPrice", "unitPrice", "number", "Price of one unit."],
    ["ProductCategory", "productCategory", "text", "Category of the product."],
    ["ProductSubCategory", "productSubCategory", "text", "Sub-category of the product."],
    ["SubstituteItem", "substituteItem", "boolean", "Whether this replaces another product."],
    ["CommitmentItem", "commitmentItem", "boolean", "Whether this line is a commitment."],
    ["Redelivery", "redelivery", "boolean", "Whether the line is delivered again."],
    ["EarliestDTTM", "earliestDTTM", "dateTime", "Earliest delivery of the line, local time."],
    ["LatestDTTM", "latestDTTM", "dateTime", "Latest delivery of the line, local time."],
    ["ConsAttribute", "consAttribute", "text", "Consolidation attribute."],
  ]),
  markforElement,
  commentElements,
  cartonContents,
  confirmed,
];

/** The lines of a stop. */
export const stopDetailElements: ListElement = listOf(
  ["StopDetails", "stopDetails", "The lines of the stop."],
  {
    name: "StopDetail",
    about: "One line: a product and its quantity.",
    children: stopDetailChildren,
  },
);
