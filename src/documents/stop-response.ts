/** Writes the `StopResponse` (decisions 5): the answer of the web service and the receipt of a file. */
import { type Fault, maxFaults, reasonCodeOf } from "../lib/errors.ts";
import { escapeXml, escapeXmlAttribute } from "./xml-text.ts";

export interface StopResponse {
  /** The request's document id, else the file name without `.xml`; `UNKNOWN` when there is neither. */
  readonly documentId?: string | undefined;
  /** Any fault makes the status 99; at most 50 are written. */
  readonly faults: readonly Fault[];
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
}

function attribute(name: string, value: string | number | undefined): string {
  return value === undefined ? "" : ` ${name}="${escapeXmlAttribute(String(value))}"`;
}

function writeFault(fault: Fault): string {
  const places =
    attribute("Line", fault.line) +
    attribute("Column", fault.column) +
    attribute("Path", fault.path) +
    attribute("StopNbr", fault.stopNbr);
  return `    <Error ErrorMsgID="${reasonCodeOf(fault.code)}"${places}>${escapeXml(fault.message)}</Error>\n`;
}

/** The text of a `StopResponse` document in UTF-8; obeys `xsd/stop-response.xsd` whatever the values are. */
export function writeStopResponse(response: StopResponse): string {
  const { faults } = response;
  let errors = "";
  for (const fault of faults.slice(0, maxFaults)) errors += writeFault(fault);
  const documentId = escapeXml((response.documentId ?? "").trim()) || "UNKNOWN";
  return `<?xml version="1.0" encoding="UTF-8"?>
<StopResponse>
  <DocumentID>${documentId}</DocumentID>
  <Status>${faults.length === 0 ? "10" : "99"}</Status>
${errors === "" ? "" : `  <Errors>\n${errors}  </Errors>\n`}  <Result>
    <RecordsCreated>${response.created}</RecordsCreated>
    <RecordsUpdated>${response.updated}</RecordsUpdated>
    <RecordsDeleted>${response.deleted}</RecordsDeleted>
  </Result>
</StopResponse>
`;
}
