/** How the documents that go out are written: by the kinds and lengths that their schemas have, too. */
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

export type OutgoingElement = StopElement<OutgoingKindName>;

/** The maximum length of a value, for its writer and its schema. */
export function maximumOf({ path }: Pick<AttributeOfValue, "path">): number {
  return maxLengthOf(fieldNameOf(path));
}

/** Held to the length in the schema. No import accepts a longer one; one that was stored before is cut. */
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

const style: ElementStyle<OutgoingKindName> = { textOf, attributeTextOf };

/** The writer of a table of elements for a document that goes out. */
export function compileOutgoing(elements: readonly OutgoingElement[]): WriteElements {
  return compileElements(elements, style);
}
