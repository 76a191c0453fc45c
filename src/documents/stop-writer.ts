/** Writes canonical stops as stop XML, by the table of elements. What it writes obeys `xsd/stop.xsd`. */
import type { Stop } from "../domain/stop.ts";
import type { StopFunction } from "../domain/stop-change.ts";
import type { ListElement, StopElement, ValueElement } from "./stop-element.ts";
import { stopElements } from "./stop-elements.ts";
import { type ScalarValue, valueKindOf } from "./value-kinds.ts";
import { escapeXml, escapeXmlAttribute } from "./xml-text.ts";

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isScalar(value: unknown): value is ScalarValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function valueAt(target: unknown, path: string): unknown {
  let value = target;
  for (const step of path.split(".")) value = isFields(value) ? value[step] : undefined;
  return value;
}

function attributeText(element: ValueElement, target: unknown): string {
  if (element.attribute === undefined) return "";
  const value = valueAt(target, element.attribute.path);
  return isScalar(value) ? ` ${element.attribute.name}="${escapeXmlAttribute(String(value))}"` : "";
}

function writeValue(element: ValueElement, target: unknown, indent: string): string {
  const value = valueAt(target, element.path);
  const attribute = attributeText(element, target);
  const text = isScalar(value) ? valueKindOf(element.kind).write(value) : undefined;
  if (text === undefined && attribute === "") return "";
  return `${indent}<${element.name}${attribute}>${escapeXml(text ?? "")}</${element.name}>\n`;
}

function wrapped(name: string, content: string, indent: string): string {
  return `${indent}<${name}>\n${content}${indent}</${name}>\n`;
}

function writeList(element: ListElement, target: unknown, indent: string): string {
  const items = valueAt(target, element.path);
  if (!Array.isArray(items)) return "";
  const { item } = element;
  const inner = `${indent}  `;
  const texts = items.map((one) => {
    if (item.content !== undefined)
      return writeValue(item.content, one, inner) || `${inner}<${item.name}/>\n`;
    return wrapped(item.name, writeElements(item.children, one, `${inner}  `), inner);
  });
  return wrapped(element.name, texts.join(""), indent);
}

/**
 * The elements of the table for one canonical object, each on its own line. Values that are absent or that the
 * element's kind cannot say are left out.
 */
function writeElements(elements: readonly StopElement[], target: unknown, indent: string): string {
  let result = "";
  for (const element of elements) {
    if (element.shape === "value") result += writeValue(element, target, indent);
    else if (element.shape === "list") result += writeList(element, target, indent);
    else {
      const content = writeElements(element.children, target, `${indent}  `);
      if (content !== "") result += wrapped(element.name, content, indent);
    }
  }
  return result;
}

/** The children of `Stop` but `Function`, for documents that extend the stop. */
export function writeStopElements(stop: Stop, indent: string): string {
  return writeElements(stopElements, stop, indent);
}

export interface StopDocumentToWrite {
  readonly documentId?: string;
  readonly companyCode?: string;
  readonly instructions: readonly { readonly function: StopFunction; readonly stop: Stop }[];
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** A `Stop` document for one stop; a `Stops` document for several, or when there is a document id or company code. */
export function writeStopDocument(document: StopDocumentToWrite): string {
  const { documentId, companyCode, instructions } = document;
  const isSingle = instructions.length === 1 && documentId === undefined && companyCode === undefined;
  const indent = isSingle ? "" : "  ";
  const stops = instructions.map(({ function: functionCode, stop }) => {
    const elements = `${indent}  <Function>${functionCode}</Function>\n${writeStopElements(stop, `${indent}  `)}`;
    return wrapped("Stop", elements, indent);
  });
  if (isSingle) return `${declaration}${stops.join("")}`;
  const id = documentId === undefined ? "" : `  <DocumentID>${escapeXml(documentId)}</DocumentID>\n`;
  const company = companyCode === undefined ? "" : `  <CompanyCode>${escapeXml(companyCode)}</CompanyCode>\n`;
  return `${declaration}${wrapped("Stops", `${id}${company}${stops.join("")}`, "")}`;
}
