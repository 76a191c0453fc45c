/** Generates `xsd/stop.xsd` from the table of elements. A test compares the committed file with this text. */
import { maxLengthOf } from "../../domain/fields/field-limits.ts";
import { fieldNameOf, type StopElement, type ValueElement } from "./stop-element.ts";
import { functionElement, stopElements } from "./stop-elements.ts";
import { type ValueKindName, valueKindOf, valueKinds } from "./value-kinds.ts";
import { annotation, schemaText, simpleTypeText, XsdTypeWriter, type XsdTypes } from "./xsd-types.ts";

/** The name of the simple type of a value; registers the type the first time it is used. */
function simpleType(types: XsdTypes, element: ValueElement): string {
  const kind = valueKindOf(element.kind);
  if (kind.restriction !== undefined) {
    const about = `Expected: ${kind.expected}.`;
    types.set(kind.typeName, simpleTypeText({ name: kind.typeName, about, ...kind.restriction }));
    return kind.typeName;
  }
  return textType(types, element.kind === "identifier", maxLengthOf(fieldNameOf(element.path)));
}

function textType(types: XsdTypes, isIdentifier: boolean, maximum: number): string {
  const kind = isIdentifier ? valueKinds.identifier : valueKinds.text;
  const name = `${kind.typeName}${maximum}`;
  const facets = [
    ...(isIdentifier ? ['<xs:minLength value="1"/>'] : []),
    `<xs:maxLength value="${maximum}"/>`,
  ];
  const about = isIdentifier ? `1 to ${maximum} characters.` : `At most ${maximum} characters; may be empty.`;
  types.set(name, simpleTypeText({ name, about, base: isIdentifier ? "xs:token" : "xs:string", facets }));
  return name;
}

function wordsOf(element: StopElement): string {
  const hasField = element.shape !== "object" && element !== functionElement;
  return hasField ? `${element.about} Field: ${element.path}.` : element.about;
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

const about =
  "Stop document, no namespace. Root is Stop or Stops. Children of Stop come in any order. An empty element is absent, and for text an empty text. One with xsi:nil is absent. Date-times are local; their zone stands beside them.";

/** The text of `xsd/stop.xsd`. */
export function writeStopXsd(): string {
  const writer = new XsdTypeWriter<ValueKindName>({
    order: "all",
    isNillable: true,
    leastItems: 0,
    simpleType,
    attributeType: (types, { path }) => textType(types, false, maxLengthOf(fieldNameOf(path))),
    wordsOf,
  });
  const stop = writer.complexType("Stop", "A stop (order): a destination for work.", [
    functionElement,
    ...stopElements,
  ]);
  const identifiers = ["DocumentID", "CompanyCode"].map((name) => {
    const maximum = name === "CompanyCode" ? maxLengthOf("companyCode") : maxLengthOf("documentId");
    const facets = [`<xs:maxLength value="${maximum}"/>`];
    return simpleTypeText({ name, about: `At most ${maximum} characters.`, base: "xs:token", facets });
  });
  const parts = [rootElements, stop, ...identifiers, ...writer.types.values()];
  return schemaText(about, "src/documents/elements/stop-elements.ts", parts);
}
