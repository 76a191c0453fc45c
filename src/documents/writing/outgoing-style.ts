/** How the documents that go out are written, and how their schemas say so: both by the same kinds and the same lengths. */
import { maxLengthOf } from "../../domain/fields/field-limits.ts";
import { compileElements, type ElementStyle, type WriteElements } from "./element-writer.ts";
import { isTextKind, type OutgoingKindName, plainKindOf } from "./outgoing-kinds.ts";
import {
  type AttributeOfValue,
  fieldNameOf,
  type StopElement,
  type ValueElement,
} from "../elements/stop-element.ts";
import type { ScalarValue } from "../elements/value-kinds.ts";
import { escapeXml, withMarkedCharacters, withoutForbiddenCharacters } from "../xml/xml-text.ts";
import { simpleTypeText, type ValuePlace, XsdTypeWriter, type XsdTypes } from "../elements/xsd-types.ts";

export type OutgoingElement = StopElement<OutgoingKindName>;

function maximumOf({ path }: Pick<AttributeOfValue, "path">): number {
  return maxLengthOf(fieldNameOf(path));
}

/** Held to the length that the schema says. No import lets a longer one in; one that was there before is cut. */
function fitted(text: string, maximum: number): string {
  return text.length <= maximum ? text : [...withoutForbiddenCharacters(text)].slice(0, maximum).join("");
}

function textWriter(element: ValueElement<OutgoingKindName>): (value: ScalarValue) => string | undefined {
  const maximum = maximumOf(element);
  const isIdentifier = element.kind === "identifier";
  return (value) => {
    // Two numbers must not become one.
    const text = isIdentifier ? withMarkedCharacters(String(value)) : String(value);
    const escaped = escapeXml(fitted(text, maximum));
    return escaped === "" ? undefined : escaped;
  };
}

function textOf(element: ValueElement<OutgoingKindName>): (value: ScalarValue) => string | undefined {
  return isTextKind(element.kind) ? textWriter(element) : plainKindOf(element.kind).write;
}

function attributeTextOf(attribute: AttributeOfValue): (value: ScalarValue) => string | undefined {
  const maximum = maximumOf(attribute);
  return (value) => {
    const text = withoutForbiddenCharacters(fitted(String(value), maximum));
    return text === "" ? undefined : text;
  };
}

const style: ElementStyle<OutgoingKindName> = { textOf, attributeTextOf, keepsEmpty: false };

/** The writer of a table of elements for a document that goes out. */
export function compileOutgoing(elements: readonly OutgoingElement[]): WriteElements {
  return compileElements(elements, style);
}

function textType(types: XsdTypes, maximum: number, mayBeEmpty: boolean): string {
  const name = mayBeEmpty ? `TextOrNone${maximum}` : `Text${maximum}`;
  const least = mayBeEmpty ? 0 : 1;
  const facets = [`<xs:minLength value="${least}"/>`, `<xs:maxLength value="${maximum}"/>`];
  types.set(
    name,
    simpleTypeText({ name, about: `${least} to ${maximum} characters.`, base: "xs:string", facets }),
  );
  return name;
}

function simpleType(types: XsdTypes, element: ValueElement<OutgoingKindName>, place: ValuePlace): string {
  if (isTextKind(element.kind)) return textType(types, maximumOf(element), place === "content");
  const { typeName, ...kind } = plainKindOf(element.kind);
  types.set(typeName, simpleTypeText({ name: typeName, ...kind }));
  return typeName;
}

/** The generator of types for the schema of a document that goes out: elements come in the order of the table. */
export function createOutgoingTypes(): XsdTypeWriter<OutgoingKindName> {
  return new XsdTypeWriter<OutgoingKindName>({
    order: "sequence",
    isNillable: false,
    leastItems: 1,
    simpleType,
    attributeType: (types, attribute) => textType(types, maximumOf(attribute), false),
    wordsOf: ({ about }) => about,
  });
}
