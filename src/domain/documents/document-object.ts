/** The Document object: a file that travels with a stop, load, order or event. */
import { type Static, Type } from "@sinclair/typebox";
import { text, textOrNumber } from "../fields/fields.ts";

export const DocSignatory = Type.Object({
  role: Type.Optional(text("role")),
  signatoryName: Type.Optional(text("signatoryName")),
  optional: Type.Optional(Type.Union([Type.Boolean(), Type.Literal(0), Type.Literal(1)])),
});
export type DocSignatory = Static<typeof DocSignatory>;

export const DocumentObject = Type.Object({
  description: Type.Optional(text("description")),
  dispositionType: Type.Optional(textOrNumber("dispositionType")),
  /** The content, base64. Held to the limit of the whole request only. */
  documentData: Type.Optional(Type.String()),
  documentExtType: Type.Optional(text("documentExtType")),
  documentName: Type.Optional(text("documentName")),
  documentType: Type.Optional(textOrNumber("documentType")),
  documentCategory: Type.Optional(text("documentCategory")),
  reference: Type.Optional(text("reference")),
  docSignatories: Type.Optional(Type.Array(DocSignatory)),
});
export type DocumentObject = Static<typeof DocumentObject>;
