/**
 * Writes canonical stops as stop XML, by the table of elements: for tests, which read back what it wrote. What it writes
 * obeys `xsd/stop.xsd`: values that are absent, or that the element's kind cannot say, are left out.
 */
import type { ListItem, StopElement, ValueElement } from "../../src/documents/elements/stop-element.ts";
import { functionElement, stopElements } from "../../src/documents/elements/stop-elements.ts";
import { unreadable, valueKindOf } from "../../src/documents/elements/value-kinds.ts";
import {
  isScalar,
  valueAt,
  wrapElement,
  xmlDeclaration,
} from "../../src/documents/writing/element-writer.ts";
import { escapeXml, escapeXmlAttribute } from "../../src/documents/xml/xml-text.ts";
import type { Stop } from "../../src/domain/stop/stop.ts";
import type { StopFunction } from "../../src/domain/stop/stop-change.ts";

const step = "  ";

function obeysFacet(facet: string, text: string): boolean {
  const [, form] = /^<xs:pattern value="(.*)"\/>$/.exec(facet) ?? [];
  return form === undefined || new RegExp(`^(?:${form})$`).test(text);
}

function textOf({ kind: name }: ValueElement, value: unknown): string | undefined {
  if (!isScalar(value)) return undefined;
  const kind = valueKindOf(name);
  const text = String(value);
  const read = kind.read(text);
  const isSaid = read !== undefined && read !== unreadable;
  return isSaid && (kind.restriction?.facets ?? []).every((facet) => obeysFacet(facet, text))
    ? escapeXml(text)
    : undefined;
}

function writeValue(element: ValueElement, target: unknown, indent: string): string {
  const { name, path, attribute } = element;
  const text = textOf(element, valueAt(target, path.split(".")));
  const said = attribute === undefined ? undefined : valueAt(target, attribute.path.split("."));
  const beside = isScalar(said) ? ` ${attribute?.name}="${escapeXmlAttribute(String(said))}"` : "";
  return text === undefined && beside === "" ? "" : `${indent}<${name}${beside}>${text ?? ""}</${name}>\n`;
}

function writeItem({ name, content, children }: ListItem, item: unknown, indent: string): string {
  if (content === undefined) return wrapElement(name, writeElements(children, item, indent + step), indent);
  return writeValue({ ...content, name }, item, indent) || wrapElement(name, "", indent);
}

function writeElement(element: StopElement, target: unknown, indent: string): string {
  if (element.shape === "value") return writeValue(element, target, indent);
  if (element.shape === "object") {
    const inner = writeElements(element.children, target, indent + step);
    return inner === "" ? "" : wrapElement(element.name, inner, indent);
  }
  const items: unknown = valueAt(target, element.path.split("."));
  if (!Array.isArray(items)) return "";
  const inner = items.map((item: unknown) => writeItem(element.item, item, indent + step)).join("");
  return wrapElement(element.name, inner, indent);
}

function writeElements(elements: readonly StopElement[], target: unknown, indent: string): string {
  return elements.map((element) => writeElement(element, target, indent)).join("");
}

interface StopDocumentToWrite {
  readonly documentId?: string;
  readonly companyCode?: string;
  readonly instructions: readonly { readonly function: StopFunction; readonly stop: Stop }[];
}

function headerLine(name: string, value: string | undefined): string {
  return value === undefined ? "" : `  <${name}>${escapeXml(value)}</${name}>\n`;
}

/** A `Stop` document for one stop; a `Stops` document for several, or when there is a document id or company code. */
export function writeStopDocument(document: StopDocumentToWrite): string {
  const { documentId, companyCode, instructions } = document;
  const isOne = instructions.length === 1 && documentId === undefined && companyCode === undefined;
  const indent = isOne ? "" : step;
  const elements = [functionElement, ...stopElements];
  const stops = instructions.map(({ function: code, stop }) =>
    wrapElement("Stop", writeElements(elements, { ...stop, function: code }, indent + step), indent),
  );
  if (isOne) return `${xmlDeclaration}${stops.join("")}`;
  const header = `${headerLine("DocumentID", documentId)}${headerLine("CompanyCode", companyCode)}`;
  return `${xmlDeclaration}${wrapElement("Stops", `${header}${stops.join("")}`, "")}`;
}
