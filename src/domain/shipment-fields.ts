/** Fields that stops, orders and loads have in common, each defined once (interface "Resources and their fields"). */
import { Type } from "@sinclair/typebox";
import { Comment, CustomAttribute } from "./comment.ts";
import { DocumentObject } from "./document-object.ts";
import { text, textOrNumber } from "./fields.ts";

/** By what a stop or an order is known elsewhere. */
export const shipmentReferences = {
  bol: Type.Optional(textOrNumber("bol")),
  proNumber: Type.Optional(textOrNumber("proNumber")),
  reference1: Type.Optional(textOrNumber("reference1")),
  reference2: Type.Optional(textOrNumber("reference2")),
  accountNumber: Type.Optional(textOrNumber("accountNumber")),
};

/** How much there is of it: of stops, orders and loads. */
export const quantities = {
  totalCartons: Type.Optional(textOrNumber("totalCartons")),
  totalPallets: Type.Optional(textOrNumber("totalPallets")),
  volume: Type.Optional(textOrNumber("volume")),
  volumeUOM: Type.Optional(text("volumeUOM")),
  weight: Type.Optional(textOrNumber("weight")),
  weightUOM: Type.Optional(text("weightUOM")),
};

/** What is measured of a stop or an order. */
export const shipmentMeasures = {
  ...quantities,
  criticalDimension: Type.Optional(textOrNumber("criticalDimension")),
  criticalDimensionUOM: Type.Optional(text("criticalDimensionUOM")),
  totalPrice: Type.Optional(textOrNumber("totalPrice")),
};

/** What hangs on stops, orders and loads. */
export const attachments = {
  comments: Type.Optional(Type.Array(Comment)),
  customAttributes: Type.Optional(Type.Array(CustomAttribute)),
  documents: Type.Optional(Type.Array(DocumentObject)),
};
