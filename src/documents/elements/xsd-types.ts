/** Generates the types of an XSD from a table of elements; what the schemas of the different documents have in common. */
import type { AttributeOfValue, ListElement, ListItem, StopElement, ValueElement } from "./stop-element.ts";
import { escapeXml } from "../xml/xml-text.ts";

/** The text of each named type, in the order in which they were first used. */
export type XsdTypes = Map<string, string>;

/** Where a value stands: in an element of its own, or as the text of a list's item, which may say nothing. */
export type ValuePlace = "element" | "content";

/** What the schemas differ in. */
export interface XsdStyle<Kind extends string> {
  /** Whether children come in any order or in that of the table. */
  readonly order: "all" | "sequence";
  /** Whether an element that may be missing may also say `xsi:nil="true"`, as serializers write what they have not. */
  readonly isNillable: boolean;
  /** How many items a list has at least. */
  readonly leastItems: 0 | 1;
  /** Name of the simple type of a value; registers the type the first time it is used. */
  readonly simpleType: (types: XsdTypes, element: ValueElement<Kind>, place: ValuePlace) => string;
  readonly attributeType: (types: XsdTypes, attribute: AttributeOfValue) => string;
  /** The documentation of an element. */
  readonly wordsOf: (element: StopElement<Kind>) => string;
}

export function annotation(words: string): string {
  return `<xs:annotation><xs:documentation>${escapeXml(words)}</xs:documentation></xs:annotation>`;
}

export interface SimpleType {
  readonly name: string;
  readonly about: string;
  readonly base: string;
  readonly facets: readonly string[];
}

export function simpleTypeText({ name, about, base, facets }: SimpleType): string {
  const lines = facets.map((facet) => `      ${facet}`);
  const restriction =
    lines.length === 0
      ? [`    <xs:restriction base="${base}"/>`]
      : [`    <xs:restriction base="${base}">`, ...lines, "    </xs:restriction>"];
  return [
    `  <xs:simpleType name="${name}">`,
    `    ${annotation(about)}`,
    ...restriction,
    "  </xs:simpleType>",
  ].join("\n");
}

/** A schema by its parts: what it is about, and its global elements and types. */
export function schemaText(about: string, source: string, parts: readonly string[]): string {
  const opening = `<?xml version="1.0" encoding="UTF-8"?>
<!-- Generated from ${source}; a test compares the two. -->
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
  ${annotation(about)}`;
  return `${[opening, ...parts, "</xs:schema>"].join("\n\n")}\n`;
}

/** A value with an attribute, such as a measure with its unit, needs a complex type with simple content. */
function typeWithAttribute<Kind extends string>(
  types: XsdTypes,
  style: XsdStyle<Kind>,
  { base, attribute }: { readonly base: string; readonly attribute: AttributeOfValue },
): string {
  const name = `${base}With${attribute.name}`;
  const attributeType = style.attributeType(types, attribute);
  const lines = [
    `  <xs:complexType name="${name}">`,
    "    <xs:simpleContent>",
    `      <xs:extension base="${base}">`,
    `        <xs:attribute name="${attribute.name}" type="${attributeType}">${annotation(attribute.about)}</xs:attribute>`,
    "      </xs:extension>",
    "    </xs:simpleContent>",
    "  </xs:complexType>",
  ];
  types.set(name, lines.join("\n"));
  return name;
}

/** The generator of types of one schema. */
export class XsdTypeWriter<Kind extends string> {
  readonly types: XsdTypes = new Map();
  readonly #style: XsdStyle<Kind>;

  constructor(style: XsdStyle<Kind>) {
    this.#style = style;
  }

  /** The text of a type that has the elements as its children. */
  complexType(name: string, about: string, children: readonly StopElement<Kind>[]): string {
    const { order } = this.#style;
    return [
      `  <xs:complexType name="${name}">`,
      `    ${annotation(about)}`,
      `    <xs:${order}>`,
      ...children.map((child) => this.#childText(child)),
      `    </xs:${order}>`,
      "  </xs:complexType>",
    ].join("\n");
  }

  #childText(element: StopElement<Kind>): string {
    const isRequired = element.shape !== "list" && element.isRequired === true;
    const occurs = isRequired ? "" : ` minOccurs="0"${this.#nillable}`;
    const opening = `      <xs:element name="${element.name}" type="${this.#typeOf(element)}"${occurs}>`;
    return `${opening}${annotation(this.#style.wordsOf(element))}</xs:element>`;
  }

  get #nillable(): string {
    return this.#style.isNillable ? ' nillable="true"' : "";
  }

  #typeOf(element: StopElement<Kind>): string {
    if (element.shape === "value") return this.#valueType(element, "element");
    if (element.shape === "list") return this.#listType(element);
    const { name, about, children } = element;
    this.types.set(name, this.complexType(name, about, children));
    return name;
  }

  #valueType(element: ValueElement<Kind>, place: ValuePlace): string {
    const base = this.#style.simpleType(this.types, element, place);
    const { attribute } = element;
    return attribute === undefined ? base : typeWithAttribute(this.types, this.#style, { base, attribute });
  }

  #listType(element: ListElement<Kind>): string {
    const itemType = this.#itemType(element.item);
    const { name, about } = element.item;
    const least = this.#style.leastItems === 0 ? ' minOccurs="0"' : "";
    this.types.set(
      element.name,
      [
        `  <xs:complexType name="${element.name}">`,
        "    <xs:sequence>",
        `      <xs:element name="${name}" type="${itemType}"${least} maxOccurs="unbounded"${this.#nillable}>${annotation(about)}</xs:element>`,
        "    </xs:sequence>",
        "  </xs:complexType>",
      ].join("\n"),
    );
    return element.name;
  }

  #itemType(item: ListItem<Kind>): string {
    if (item.content !== undefined) return this.#valueType(item.content, "content");
    this.types.set(item.name, this.complexType(item.name, item.about, item.children));
    return item.name;
  }
}
