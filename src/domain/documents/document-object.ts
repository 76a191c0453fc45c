/** The Document object: a file that travels with a stop, load, order or event. */
import { type Static, Type } from "@sinclair/typebox";
import { optionals, text, textOrNumber } from "../fields/fields.ts";

export const DocSignatory = Type.Object({
  ...optionals(text, "role", "signatoryName"),
  optional: Type.Optional(Type.Union([Type.Boolean(), Type.Literal(0), Type.Literal(1)])),
});
export type DocSignatory = Static<typeof DocSignatory>;

export const DocumentObject = Type.Object({
  description: Type.Optional(text("description")),
  dispositionType: Type.Optional(textOrNumber("dispositionType")),
  /** The content, base64. Held to the limit of the whole request only. */
  documentData: Type.Optional(Type.String()),
  ...optionals(text, "documentExtType", "documentName"),
  documentType: Type.Optional(textOrNumber("documentType")),
  ...optionals(text, "documentCategory", "reference"),
  docSignatories: Type.Optional(Type.Array(DocSignatory)),
});
export type DocumentObject = Static<typeof DocumentObject>;
