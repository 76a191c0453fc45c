/** The small lists that hang on stops, loads and orders: comments, custom attributes, accessorials. */
import { type Static, Type } from "@sinclair/typebox";
import { optionals, text, textOrNumber } from "../fields/fields.ts";

export const Comment = Type.Object({
  commentType: Type.Optional(textOrNumber("commentType")),
  commentDescription: Type.Optional(text("commentDescription")),
});
export type Comment = Static<typeof Comment>;

export const CustomAttribute = Type.Object(optionals(text, "keyField", "keyValue"));
export type CustomAttribute = Static<typeof CustomAttribute>;

export const Accessorial = Type.Object({
  code: Type.Optional(textOrNumber("code")),
  comments: Type.Optional(text("comments")),
});
export type Accessorial = Static<typeof Accessorial>;
