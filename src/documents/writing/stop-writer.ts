/** Writes canonical stops as stop XML, by the table of elements. What it writes obeys `xsd/stop.xsd`. */
import type { Stop } from "../../domain/stop/stop.ts";
import type { StopFunction } from "../../domain/stop/stop-change.ts";
import { compileElements, type ElementStyle, wrapElement, xmlDeclaration } from "./element-writer.ts";
import { functionElement, stopElements } from "../elements/stop-elements.ts";
import { type ValueKindName, valueKindOf } from "../elements/value-kinds.ts";
import { escapeXml } from "../xml/xml-text.ts";

/** Values that are absent or that the element's kind cannot say are left out. */
const style: ElementStyle<ValueKindName> = {
  textOf: ({ kind }) => {
    const { write } = valueKindOf(kind);
    return (value) => {
      const text = write(value);
      return text === undefined ? undefined : escapeXml(text);
    };
  },
  attributeTextOf: () => String,
  keepsEmpty: true,
};

const writeStop = compileElements([functionElement, ...stopElements], style);

export interface StopDocumentToWrite {
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
  const indent = isOne ? "" : "  ";
  const stops = instructions.map(({ function: code, stop }) =>
    wrapElement("Stop", writeStop({ ...stop, function: code }, `${indent}  `), indent),
  );
  if (isOne) return `${xmlDeclaration}${stops.join("")}`;
  const header = `${headerLine("DocumentID", documentId)}${headerLine("CompanyCode", companyCode)}`;
  return `${xmlDeclaration}${wrapElement("Stops", `${header}${stops.join("")}`, "")}`;
}
