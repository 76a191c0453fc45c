/** Writes canonical stops as stop XML, by the table of elements. What it writes obeys `xsd/stop.xsd`. */
import type { Stop } from "../domain/stop.ts";
import type { StopFunction } from "../domain/stop-change.ts";
import type { ListElement, StopElement, ValueElement } from "./stop-element.ts";
import { stopElements } from "./stop-elements.ts";
import { type ScalarValue, valueKindOf } from "./value-kinds.ts";
import { writeXml, type XmlContent, type XmlFields, xmlText } from "./xml-builder.ts";

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

type MutableFields = Record<string, XmlContent>;

function attributeText(element: ValueElement, target: unknown): string | undefined {
  if (element.attribute === undefined) return undefined;
  const value = valueAt(target, element.attribute.path);
  return isScalar(value) ? String(value) : undefined;
}

/** Undefined when the element is to be left out. */
function valueContent(element: ValueElement, target: unknown): XmlContent | undefined {
  const value = valueAt(target, element.path);
  const attribute = attributeText(element, target);
  const text = isScalar(value) ? valueKindOf(element.kind).write(value) : undefined;
  if (attribute === undefined) return text;
  return { [`@${element.attribute?.name}`]: attribute, [xmlText]: text ?? "" };
}

function listContent(element: ListElement, target: unknown): XmlFields | undefined {
  const items = valueAt(target, element.path);
  if (!Array.isArray(items)) return undefined;
  const { item } = element;
  const contents = items.map((one) =>
    item.content === undefined ? fieldsOf(item.children, one) : (valueContent(item.content, one) ?? ""),
  );
  return { [item.name]: contents };
}

function contentOf(element: StopElement, target: unknown): XmlContent | undefined {
  if (element.shape === "value") return valueContent(element, target);
  if (element.shape === "list") return listContent(element, target);
  const fields = fieldsOf(element.children, target);
  return Object.keys(fields).length === 0 ? undefined : fields;
}

/**
 * The elements of the table for one canonical object. Values that are absent or that the element's kind cannot say are
 * left out.
 */
function fieldsOf(elements: readonly StopElement[], target: unknown): XmlFields {
  const fields: MutableFields = {};
  for (const element of elements) {
    const content = contentOf(element, target);
    if (content !== undefined) fields[element.name] = content;
  }
  return fields;
}

/** The children of `Stop` but `Function`, for documents that extend the stop. */
export function stopFields(stop: Stop): XmlFields {
  return fieldsOf(stopElements, stop);
}

export interface StopDocumentToWrite {
  readonly documentId?: string;
  readonly companyCode?: string;
  readonly instructions: readonly { readonly function: StopFunction; readonly stop: Stop }[];
}

/** A `Stop` document for one stop; a `Stops` document for several, or when there is a document id or company code. */
export function writeStopDocument(document: StopDocumentToWrite): string {
  const { documentId, companyCode, instructions } = document;
  const stops = instructions.map(({ function: code, stop }) => ({ Function: code, ...stopFields(stop) }));
  const [first] = stops;
  if (first !== undefined && stops.length === 1 && documentId === undefined && companyCode === undefined) {
    return writeXml({ Stop: first });
  }
  return writeXml({ Stops: { DocumentID: documentId, CompanyCode: companyCode, Stop: stops } });
}
