/**
 * Writes the `StopResponse` (specification/stop-document.md#response): the answer of the web service and the receipt of
 * a file.
 */
import { type Fault, reasonCodeOf, shownFaults } from "../../lib/errors.ts";
import { writeXml, type XmlFields, xmlText } from "../xml/xml-builder.ts";
import { withoutForbiddenCharacters } from "../xml/xml-text.ts";

/** The file that a receipt answers: a host sees by it that a receipt is not that of an earlier file of the name. */
export interface AnsweredFile {
  /** SHA-256 of its bytes, hexadecimal; undefined when they could not be read. */
  readonly sha256: string | undefined;
  /** When all of it was there; milliseconds UTC. */
  readonly receivedAt: number;
  /** The reference of its ledger entry, which `dropgate file show` takes. */
  readonly ledger: string;
}

export interface StopResponse {
  /** Of a receipt; the answer of the web service has none. */
  readonly file?: AnsweredFile;
  /** The request's document id, else the file name without `.xml`; `UNKNOWN` when there is neither. */
  readonly documentId?: string | undefined;
  /** Any fault makes the status 99; at most 50 are written. */
  readonly faults: readonly Fault[];
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
}

function faultFields(fault: Fault): XmlFields {
  return {
    "@ErrorMsgID": String(reasonCodeOf(fault.code)),
    "@Line": fault.line?.toString(),
    "@Column": fault.column?.toString(),
    "@Path": fault.path,
    "@StopNbr": fault.stopNbr,
    [xmlText]: fault.message,
  };
}

/** None of the values has a character that XML escapes. */
function fileAttributes({ sha256, receivedAt, ledger }: AnsweredFile): string {
  const hash = sha256 === undefined ? "" : ` Sha256="${sha256}"`;
  return `${hash} Received="${new Date(receivedAt).toISOString()}" Ledger="${ledger}"`;
}

function write(documentId: string, response: StopResponse): string {
  const { faults } = response;
  const isSuccess = faults.length === 0;
  return writeXml({
    StopResponse: {
      DocumentID: documentId,
      Status: isSuccess ? "10" : "99",
      Errors: isSuccess ? undefined : { Error: shownFaults(faults).map(faultFields) },
      Result: {
        RecordsCreated: String(response.created),
        RecordsUpdated: String(response.updated),
        RecordsDeleted: String(response.deleted),
      },
    },
  });
}

/** Placeholder of the document id in a frame. */
const standIn = "DOCUMENT-ID";
const rootTag = "<StopResponse>";
const maxFrames = 64;
/** Texts of successes around their document ids, by their counts: most receipts differ in nothing else. */
const frames = new Map<string, readonly string[]>();

function frameOf(response: StopResponse): readonly string[] {
  const key = `${response.created} ${response.updated} ${response.deleted}`;
  const known = frames.get(key);
  if (known !== undefined) return known;
  const frame = write(standIn, response).split(standIn);
  if (frames.size >= maxFrames) frames.clear();
  frames.set(key, frame);
  return frame;
}

/** The text of a `StopResponse` document in UTF-8; obeys `xsd/stop-response.xsd` whatever the values are. */
export function writeStopResponse(response: StopResponse): string {
  const documentId = withoutForbiddenCharacters((response.documentId ?? "").trim()) || "UNKNOWN";
  const isPlain = response.faults.length === 0 && /^[\w.-]+$/.test(documentId);
  const text = isPlain ? frameOf(response).join(documentId) : write(documentId, response);
  const { file } = response;
  return file === undefined ? text : text.replace(rootTag, `<StopResponse${fileAttributes(file)}>`);
}
