/** What a row of the table of elements says, and the rows that stops and their details share. */
import type { ValueKindName } from "./value-kinds.ts";

/**
 * An element with one value; `path` is where the value stands in the canonical object, such as `to.address.zip`. `Kind`
 * is the set of kinds of value: documents that go out have some that stop documents have not.
 */
export interface ValueElement<Kind extends string = ValueKindName> extends AttributeOfValue {
  readonly shape: "value";
  readonly kind: Kind;
  readonly isRequired?: boolean;
  /** An attribute whose value is a text field of its own: the unit of a measure. */
  readonly attribute?: AttributeOfValue;
}

export interface AttributeOfValue {
  readonly name: string;
  readonly path: string;
  readonly about: string;
}

/** An element that groups others, in any order. Paths of its children begin at the object that holds it. */
export interface ObjectElement<Kind extends string = ValueKindName> {
  readonly shape: "object";
  readonly name: string;
  readonly about: string;
  readonly isRequired?: boolean;
  readonly children: readonly StopElement<Kind>[];
}

/** An element that holds a list. Paths of the item's children begin at the item. */
export interface ListElement<Kind extends string = ValueKindName> extends AttributeOfValue {
  readonly shape: "list";
  readonly item: ListItem<Kind>;
}

export interface ListItem<Kind extends string = ValueKindName> {
  readonly name: string;
  readonly about: string;
  /** The item's children in any order; or, with `content`, its own text and attribute. */
  readonly children: readonly StopElement<Kind>[];
  readonly content?: ValueElement<Kind>;
}

export type StopElement<Kind extends string = ValueKindName> =
  | ValueElement<Kind>
  | ObjectElement<Kind>
  | ListElement<Kind>;

export type Row<Kind extends string = ValueKindName> = readonly [
  name: string,
  path: string,
  kind: Kind,
  about: string,
];

/** Rows of a table as elements. */
export function values<Kind extends string = ValueKindName>(
  rows: readonly Row<Kind>[],
): ValueElement<Kind>[] {
  return rows.map(([name, path, kind, about]) => ({ shape: "value", name, path, kind, about }));
}

/** Rows of values that must be there. */
export function requiredValues<Kind extends string = ValueKindName>(
  rows: readonly Row<Kind>[],
): ValueElement<Kind>[] {
  return values(rows).map((element) => ({ ...element, isRequired: true }));
}

/** An element that groups others. */
export function groupOf<Kind extends string = ValueKindName>(
  [name, about]: readonly [name: string, about: string],
  children: readonly StopElement<Kind>[],
): ObjectElement<Kind> {
  return { shape: "object", name, about, children };
}

/** An element that holds a list. */
export function listOf<Kind extends string = ValueKindName>(
  [name, path, about]: readonly [name: string, path: string, about: string],
  item: ListItem<Kind>,
): ListElement<Kind> {
  return { shape: "list", name, path, about, item };
}

/** A measure with its unit as attribute `UOM`; the unit has its own field beside the value's. */
export function measure(name: string, path: string, about: string): ValueElement {
  const attribute = { name: "UOM", path: `${path}UOM`, about: "Unit of measure." };
  return { shape: "value", name, path, kind: "numberText", about, attribute };
}

/** The seven elements of an address. */
export function addressRows(prefix: string, path: string, whose: string): Row[] {
  return [
    [`${prefix}Name`, `${path}.name`, "text", `Name at ${whose}.`],
    [`${prefix}Addr1`, `${path}.addr1`, "text", `First address line of ${whose}.`],
    [`${prefix}Addr2`, `${path}.addr2`, "text", `Second address line of ${whose}.`],
    [`${prefix}City`, `${path}.city`, "text", `City of ${whose}.`],
    [`${prefix}State`, `${path}.state`, "text", `State or region of ${whose}.`],
    [`${prefix}Zip`, `${path}.zip`, "text", `Postal code of ${whose}.`],
    [`${prefix}Country`, `${path}.country`, "text", `Country of ${whose}.`],
  ];
}

/** Stops and details have the same comments. */
export const commentElements: ListElement = listOf(["Comments", "comments", "Instructions for the driver."], {
  name: "Comment",
  about: "One instruction; its text is the element's content.",
  children: [],
  content: {
    shape: "value",
    name: "Comment",
    path: "commentDescription",
    kind: "text",
    about: "One instruction.",
    attribute: { name: "Type", path: "commentType", about: "Type of the comment." },
  },
});

/** Stops and details say in the same form whom they are for. */
export const markforElement: ObjectElement = groupOf(
  ["Markfor", "Whom the goods are marked for."],
  values([
    ...addressRows("", "markfor.address", "the final recipient"),
    ["Landmark", "markfor.address.landmark", "text", "Landmark near the final recipient."],
    ["Latitude", "markfor.address.latitude", "number", "Latitude of the final recipient."],
    ["Longitude", "markfor.address.longitude", "number", "Longitude of the final recipient."],
    ["ContactName", "markfor.contact.contactName", "text", "Contact person."],
    ["Email", "markfor.contact.email", "text", "E-mail address of the contact."],
    ["Phone", "markfor.contact.phone", "text", "Telephone number of the contact."],
    ["SMS", "markfor.contact.sms", "text", "Number for text messages to the contact."],
  ]),
);

/** The last part of a canonical path: the name under which a field's maximum length stands. */
export function fieldNameOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}
