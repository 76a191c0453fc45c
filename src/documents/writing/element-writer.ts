/**
 * Writes objects as XML by a table of elements: two spaces an indent, each element on its own line. The table is compiled
 * once, because one document has some hundred elements and most of them are absent.
 */
import type {
  AttributeOfValue,
  ListElement,
  ListItem,
  StopElement,
  ValueElement,
} from "../elements/stop-element.ts";
import type { ScalarValue } from "../elements/value-kinds.ts";
import { escapeXmlAttribute } from "../xml/xml-text.ts";

/** What the documents of one kind have of their own. */
export interface ElementStyle<Kind extends string> {
  /** Text of a value, escaped; undefined when the element cannot say it. */
  readonly textOf: (element: ValueElement<Kind>) => (value: ScalarValue) => string | undefined;
  /** Text of an attribute, not escaped. */
  readonly attributeTextOf: (attribute: AttributeOfValue) => (value: ScalarValue) => string | undefined;
}

/** The element's lines, or nothing when it is left out. */
export type WriteElements = (target: unknown, indent: string) => string;

/** How servers are told of a document that begins with the declaration. */
export const xmlContentType = "application/xml; charset=utf-8";
export const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

const step = "  ";

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

export function isScalar(value: unknown): value is ScalarValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** What lies at the path, by its names; undefined when there is nothing. */
export function valueAt(target: unknown, steps: readonly string[]): unknown {
  let value = target;
  for (const name of steps) value = isFields(value) ? value[name] : undefined;
  return value;
}

/** An element around lines that are indented already; it is written even when there are none. */
export function wrapElement(name: string, inner: string, indent: string): string {
  return inner === ""
    ? `${indent}<${name}></${name}>\n`
    : `${indent}<${name}>\n${inner}${indent}</${name}>\n`;
}

function compileAttribute<Kind extends string>(
  attribute: AttributeOfValue | undefined,
  style: ElementStyle<Kind>,
): (target: unknown) => string | undefined {
  if (attribute === undefined) return () => undefined;
  const steps = attribute.path.split(".");
  const textOf = style.attributeTextOf(attribute);
  return (target) => {
    const value = valueAt(target, steps);
    const text = isScalar(value) ? textOf(value) : undefined;
    return text === undefined ? undefined : ` ${attribute.name}="${escapeXmlAttribute(text)}"`;
  };
}

/** `isContent`: it is the text of a list's item, which is written even when it says nothing. */
function compileValue<Kind extends string>(
  element: ValueElement<Kind>,
  style: ElementStyle<Kind>,
  isContent: boolean,
): WriteElements {
  const { name } = element;
  const steps = element.path.split(".");
  const textOf = style.textOf(element);
  const attributeOf = compileAttribute(element.attribute, style);
  return (target, indent) => {
    const value = valueAt(target, steps);
    const text = isScalar(value) ? textOf(value) : undefined;
    if (text === undefined && !isContent) return "";
    return `${indent}<${name}${attributeOf(target) ?? ""}>${text ?? ""}</${name}>\n`;
  };
}

function compileItem<Kind extends string>(item: ListItem<Kind>, style: ElementStyle<Kind>): WriteElements {
  if (item.content !== undefined) return compileValue({ ...item.content, name: item.name }, style, true);
  const writeChildren = compileElements(item.children, style);
  return (target, indent) => wrapElement(item.name, writeChildren(target, indent + step), indent);
}

function compileList<Kind extends string>(
  element: ListElement<Kind>,
  style: ElementStyle<Kind>,
): WriteElements {
  const steps = element.path.split(".");
  const writeItem = compileItem(element.item, style);
  return (target, indent) => {
    const items = valueAt(target, steps);
    if (!Array.isArray(items) || items.length === 0) return "";
    let inner = "";
    for (const item of items) inner += writeItem(item, indent + step);
    return wrapElement(element.name, inner, indent);
  };
}

function compileElement<Kind extends string>(
  element: StopElement<Kind>,
  style: ElementStyle<Kind>,
): WriteElements {
  if (element.shape === "value") return compileValue(element, style, false);
  if (element.shape === "list") return compileList(element, style);
  const writeChildren = compileElements(element.children, style);
  return (target, indent) => {
    const inner = writeChildren(target, indent + step);
    return inner === "" ? "" : wrapElement(element.name, inner, indent);
  };
}

/** The writer of a table of elements, in the order of the table. */
export function compileElements<Kind extends string>(
  elements: readonly StopElement<Kind>[],
  style: ElementStyle<Kind>,
): WriteElements {
  const writers = elements.map((element) => compileElement(element, style));
  return (target, indent) => {
    let text = "";
    for (const write of writers) text += write(target, indent);
    return text;
  };
}
