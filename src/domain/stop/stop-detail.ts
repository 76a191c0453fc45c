/** One line of a stop: a product with its quantities, references and, later, what was confirmed of it. */
import { type Static, Type } from "@sinclair/typebox";
import { Comment } from "./comment.ts";
import {
  amount,
  code,
  count,
  dateOrDateTime,
  localDateTime,
  number,
  optionals,
  reference,
  text,
  textOrNumber,
} from "../fields/fields.ts";
import { AddressAndContact } from "./party.ts";

export const CartonContent = Type.Object({
  itemId: Type.Optional(code("itemId")),
  description: Type.Optional(text("description")),
  qty: Type.Optional(count()),
});
export type CartonContent = Static<typeof CartonContent>;

/** What was confirmed, scanned and received of a detail. */
export const Confirmed = Type.Object({
  ...optionals(amount, "confirmedQty", "scannedQty", "puConfirmedQty", "puScannedQty"),
  exceptionReasonCode: Type.Optional(reference("exceptionReasonCode")),
  exceptionComments: Type.Optional(text("exceptionComments")),
  ...optionals(amount, "rcvQty", "rcvScndQty"),
});
export type Confirmed = Static<typeof Confirmed>;

const product = {
  product: Type.Optional(textOrNumber("product")),
  productIdentifier: Type.Optional(reference("productIdentifier")),
  quantity: Type.Optional(amount("quantity")),
  quantityUOM: Type.Optional(text("quantityUOM")),
  stopDetailSeq: Type.Optional(number()),
  unitPrice: Type.Optional(count()),
  ...optionals(textOrNumber, "productCategory", "productSubCategory"),
  substituteItem: Type.Optional(Type.Boolean()),
  commitmentItem: Type.Optional(Type.Boolean()),
  redelivery: Type.Optional(Type.Boolean()),
  cartonContents: Type.Optional(Type.Array(CartonContent)),
};

const references = {
  palletID: Type.Optional(reference("palletID")),
  orderDate: Type.Optional(dateOrDateTime()),
  ...optionals(reference, "toteID", "trailerCode", "customerPO", "custRouteNbr", "custStopNbr"),
  ...optionals(reference, "customerOrderNbr", "invoiceNbr"),
  invoiceDate: Type.Optional(dateOrDateTime()),
  ...optionals(reference, "pickingNumber", "accountNumber"),
  referenceText: Type.Optional(textOrNumber("referenceText")),
  originalLineNumber: Type.Optional(reference("originalLineNumber")),
};

const handling = {
  markfor: Type.Optional(AddressAndContact),
  ...optionals(textOrNumber, "ratingGroup", "signatureGroup"),
  deliveryType: Type.Optional(text("deliveryType")),
  ...optionals(textOrNumber, "confirmationType", "lineType", "serviceCategory"),
  ...optionals(localDateTime, "earliestDTTM", "latestDTTM"),
  consAttribute: Type.Optional(textOrNumber("consAttribute")),
  comments: Type.Optional(Type.Array(Comment)),
  confirmed: Type.Optional(Confirmed),
};

const measures = {
  volume: Type.Optional(amount("volume")),
  volumeUOM: Type.Optional(text("volumeUOM")),
  weight: Type.Optional(amount("weight")),
  weightUOM: Type.Optional(text("weightUOM")),
  length: Type.Optional(amount("length")),
  lengthUOM: Type.Optional(text("lengthUOM")),
  width: Type.Optional(amount("width")),
  widthUOM: Type.Optional(text("widthUOM")),
  height: Type.Optional(amount("height")),
  heightUOM: Type.Optional(text("heightUOM")),
  criticalDimension: Type.Optional(amount("criticalDimension")),
  criticalDimensionUOM: Type.Optional(text("criticalDimensionUOM")),
};

export const StopDetail = Type.Object({ ...product, ...references, ...handling, ...measures });
export type StopDetail = Static<typeof StopDetail>;
