/** Fields that stops, orders and loads have in common, each defined once (specification/resources.md#stop). */
import { Type } from "@sinclair/typebox";
import { Comment, CustomAttribute } from "./comment.ts";
import { DocumentObject } from "../documents/document-object.ts";
import { amount, optionals, reference, text } from "../fields/fields.ts";

/** References under which a stop or an order is known elsewhere. */
export const shipmentReferences = {
  ...optionals(reference, "bol", "proNumber", "reference1", "reference2", "accountNumber"),
};

/** Amounts of stops, orders and loads. */
export const quantities = {
  ...optionals(amount, "totalCartons", "totalPallets", "volume"),
  volumeUOM: Type.Optional(text("volumeUOM")),
  weight: Type.Optional(amount("weight")),
  weightUOM: Type.Optional(text("weightUOM")),
};

/** Measures of a stop or an order. */
export const shipmentMeasures = {
  ...quantities,
  criticalDimension: Type.Optional(amount("criticalDimension")),
  criticalDimensionUOM: Type.Optional(text("criticalDimensionUOM")),
  totalPrice: Type.Optional(amount("totalPrice")),
};

/** Lists that stops, orders and loads have. */
export const attachments = {
  comments: Type.Optional(Type.Array(Comment)),
  customAttributes: Type.Optional(Type.Array(CustomAttribute)),
  documents: Type.Optional(Type.Array(DocumentObject)),
};
