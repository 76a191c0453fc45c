/** Generates `xsd/stop.xsd` from the table of elements. A test compares the committed file with this text. */
import { maxLengthOf } from "../domain/field-limits.ts";
import {
  type AttributeOfValue,
  fieldNameOf,
  type ListItem,
  type ObjectElement,
  type StopElement,
  type ValueElement,
} from "./stop-element.ts";
import { functionElement, stopElements } from "./stop-elements.ts";
import { valueKindOf, valueKinds } from "./value-kinds.ts";
import { escapeXml } from "./xml-text.ts";

type Types = Map<string, string>;

function annotation(words: string): string {
  return `<xs:annotation><xs:documentation>${escapeXml(words)}</xs:documentation></xs:annotation>`;
}

/** The name of the simple type of a value; registers the type the first time it is used. */
function simpleType(types: Types, element: ValueElement): string {
  const kind = valueKindOf(element.kind);
  if (kind.restriction !== undefined) {
    const { base, facets } = kind.restriction;
    types.set(kind.typeName, simpleTypeText(kind.typeName, `Expected: ${kind.expected}.`, base, facets));
    return kind.typeName;
  }
  return textType(types, element.kind === "identifier", maxLengthOf(fieldNameOf(element.path)));
}

function textType(types: Types, isIdentifier: boolean, maximum: number): string {
  const kind = isIdentifier ? valueKinds.identifier : valueKinds.text;
  const name = `${kind.typeName}${maximum}`;
  const facets = [
    ...(isIdentifier ? ['<xs:minLength value="1"/>'] : []),
    `<xs:maxLength value="${maximum}"/>`,
  ];
  const about = isIdentifier ? `1 to ${maximum} characters.` : `At most ${maximum} characters; may be empty.`;
  types.set(name, simpleTypeText(name, about, isIdentifier ? "xs:token" : "xs:string", facets));
  return name;
}

function simpleTypeText(name: string, about: string, base: string, facets: readonly string[]): string {
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

/** A value with an attribute, such as a measure with its unit, needs a complex type with simple content. */
function typeWithAttribute(types: Types, base: string, attribute: AttributeOfValue): string {
  const name = `${base}With${attribute.name}`;
  const attributeType = textType(types, false, maxLengthOf(fieldNameOf(attribute.path)));
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

function valueType(types: Types, element: ValueElement): string {
  const base = simpleType(types, element);
  return element.attribute === undefined ? base : typeWithAttribute(types, base, element.attribute);
}

function elementText(element: StopElement, type: string, words: string): string {
  const occurs = element.shape === "value" && element.isRequired === true ? "" : ' minOccurs="0"';
  const opening = `      <xs:element name="${element.name}" type="${type}"${occurs}>`;
  return `${opening}${annotation(words)}</xs:element>`;
}

function childText(types: Types, element: StopElement): string {
  if (element.shape === "value") {
    const field = element === functionElement ? "" : ` Field: ${element.path}.`;
    return elementText(element, valueType(types, element), `${element.about}${field}`);
  }
  if (element.shape === "object") {
    registerObject(types, element);
    return elementText(element, element.typeName, element.about);
  }
  const itemType = registerItem(types, element.item);
  const { name, about } = element.item;
  types.set(
    element.typeName,
    [
      `  <xs:complexType name="${element.typeName}">`,
      "    <xs:sequence>",
      `      <xs:element name="${name}" type="${itemType}" minOccurs="0" maxOccurs="unbounded">${annotation(about)}</xs:element>`,
      "    </xs:sequence>",
      "  </xs:complexType>",
    ].join("\n"),
  );
  return elementText(element, element.typeName, `${element.about} Field: ${element.path}.`);
}

function allOf(types: Types, typeName: string, about: string, children: readonly StopElement[]): string {
  return [
    `  <xs:complexType name="${typeName}">`,
    `    ${annotation(about)}`,
    "    <xs:all>",
    ...children.map((child) => childText(types, child)),
    "    </xs:all>",
    "  </xs:complexType>",
  ].join("\n");
}

function registerObject(types: Types, element: ObjectElement): void {
  types.set(element.typeName, allOf(types, element.typeName, element.about, element.children));
}

function registerItem(types: Types, item: ListItem): string {
  if (item.content !== undefined) return valueType(types, item.content);
  types.set(item.typeName, allOf(types, item.typeName, item.about, item.children));
  return item.typeName;
}

const rootElements = `  <xs:element name="Stop" type="Stop">${annotation("One stop.")}</xs:element>
  <xs:element name="Stops">
    ${annotation("1 to 500 stops; all of them are applied, or none.")}
    <xs:complexType>
      <xs:sequence>
        <xs:element name="DocumentID" type="DocumentID" minOccurs="0">${annotation("Given back in the response.")}</xs:element>
        <xs:element name="CompanyCode" type="CompanyCode" minOccurs="0">${annotation("Must agree with the company that the document is sent to.")}</xs:element>
        <xs:element name="Stop" type="Stop" maxOccurs="unbounded">${annotation("One stop.")}</xs:element>
      </xs:sequence>
    </xs:complexType>
  </xs:element>`;

const opening = `<?xml version="1.0" encoding="UTF-8"?>
<!-- Generated from src/documents/stop-elements.ts; a test compares the two. -->
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
  ${annotation(
    "Stop document, no namespace. Root is Stop or Stops. Children of Stop come in any order. An empty element is absent, and for text an empty text. Date-times are local; their zone stands beside them.",
  )}`;

/** The text of `xsd/stop.xsd`. */
export function writeStopXsd(): string {
  const types: Types = new Map();
  const stop = allOf(types, "Stop", "A stop (order): a destination for work.", [
    functionElement,
    ...stopElements,
  ]);
  const identifiers = ["DocumentID", "CompanyCode"].map((name) => {
    const maximum = name === "CompanyCode" ? maxLengthOf("companyCode") : maxLengthOf("documentId");
    return simpleTypeText(name, `At most ${maximum} characters.`, "xs:token", [
      `<xs:maxLength value="${maximum}"/>`,
    ]);
  });
  return `${[opening, rootElements, stop, ...identifiers, ...types.values(), "</xs:schema>"].join("\n\n")}\n`;
}
