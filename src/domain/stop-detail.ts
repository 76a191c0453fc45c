/** One line of a stop: a product with its quantities, references and, later, what was confirmed of it. */
import { type Static, Type } from "@sinclair/typebox";
import { Comment } from "./comment.ts";
import { dateOrDateTime, localDateTime, text, textOrNumber } from "./fields.ts";
import { AddressAndContact } from "./party.ts";

export const CartonContent = Type.Object({
  itemId: Type.Optional(text("itemId")),
  description: Type.Optional(text("description")),
  qty: Type.Optional(Type.Number()),
});
export type CartonContent = Static<typeof CartonContent>;

/** What was confirmed, scanned and received of a detail. */
export const Confirmed = Type.Object({
  confirmedQty: Type.Optional(textOrNumber("confirmedQty")),
  scannedQty: Type.Optional(textOrNumber("scannedQty")),
  puConfirmedQty: Type.Optional(textOrNumber("puConfirmedQty")),
  puScannedQty: Type.Optional(textOrNumber("puScannedQty")),
  exceptionReasonCode: Type.Optional(textOrNumber("exceptionReasonCode")),
  exceptionComments: Type.Optional(text("exceptionComments")),
  rcvQty: Type.Optional(textOrNumber("rcvQty")),
  rcvScndQty: Type.Optional(textOrNumber("rcvScndQty")),
});
export type Confirmed = Static<typeof Confirmed>;

const product = {
  product: Type.Optional(textOrNumber("product")),
  productIdentifier: Type.Optional(textOrNumber("productIdentifier")),
  quantity: Type.Optional(textOrNumber("quantity")),
  quantityUOM: Type.Optional(text("quantityUOM")),
  stopDetailSeq: Type.Optional(Type.Number()),
  unitPrice: Type.Optional(Type.Number()),
  productCategory: Type.Optional(textOrNumber("productCategory")),
  productSubCategory: Type.Optional(textOrNumber("productSubCategory")),
  substituteItem: Type.Optional(Type.Boolean()),
  commitmentItem: Type.Optional(Type.Boolean()),
  redelivery: Type.Optional(Type.Boolean()),
  cartonContents: Type.Optional(Type.Array(CartonContent)),
};

const references = {
  palletID: Type.Optional(textOrNumber("palletID")),
  orderDate: Type.Optional(dateOrDateTime()),
  toteID: Type.Optional(textOrNumber("toteID")),
  trailerCode: Type.Optional(textOrNumber("trailerCode")),
  customerPO: Type.Optional(textOrNumber("customerPO")),
  custRouteNbr: Type.Optional(textOrNumber("custRouteNbr")),
  custStopNbr: Type.Optional(textOrNumber("custStopNbr")),
  customerOrderNbr: Type.Optional(textOrNumber("customerOrderNbr")),
  invoiceNbr: Type.Optional(textOrNumber("invoiceNbr")),
  invoiceDate: Type.Optional(dateOrDateTime()),
  pickingNumber: Type.Optional(textOrNumber("pickingNumber")),
  accountNumber: Type.Optional(textOrNumber("accountNumber")),
  referenceText: Type.Optional(textOrNumber("referenceText")),
  originalLineNumber: Type.Optional(textOrNumber("originalLineNumber")),
};

const handling = {
  markfor: Type.Optional(AddressAndContact),
  ratingGroup: Type.Optional(textOrNumber("ratingGroup")),
  signatureGroup: Type.Optional(textOrNumber("signatureGroup")),
  deliveryType: Type.Optional(text("deliveryType")),
  confirmationType: Type.Optional(textOrNumber("confirmationType")),
  lineType: Type.Optional(textOrNumber("lineType")),
  serviceCategory: Type.Optional(textOrNumber("serviceCategory")),
  earliestDTTM: Type.Optional(localDateTime()),
  latestDTTM: Type.Optional(localDateTime()),
  consAttribute: Type.Optional(textOrNumber("consAttribute")),
  comments: Type.Optional(Type.Array(Comment)),
  confirmed: Type.Optional(Confirmed),
};

const measures = {
  volume: Type.Optional(textOrNumber("volume")),
  volumeUOM: Type.Optional(text("volumeUOM")),
  weight: Type.Optional(textOrNumber("weight")),
  weightUOM: Type.Optional(text("weightUOM")),
  length: Type.Optional(textOrNumber("length")),
  lengthUOM: Type.Optional(text("lengthUOM")),
  width: Type.Optional(textOrNumber("width")),
  widthUOM: Type.Optional(text("widthUOM")),
  height: Type.Optional(textOrNumber("height")),
  heightUOM: Type.Optional(text("heightUOM")),
  criticalDimension: Type.Optional(textOrNumber("criticalDimension")),
  criticalDimensionUOM: Type.Optional(text("criticalDimensionUOM")),
};

export const StopDetail = Type.Object({ ...product, ...references, ...handling, ...measures });
export type StopDetail = Static<typeof StopDetail>;
