/**
 * Reads a stop document from its bytes (specification/stop-document.md#form). Synchronous; runs in the parser threads.
 *
 * Encoding and DOCTYPE are looked at first, on decoded text. Then libxml2 decides whether the document is well-formed,
 * one pass makes the objects and holds the document to its limits, and the XSD decides whether what was made counts.
 * libxml2 parses the bytes itself.
 */
import { type ErrorDetail, XmlDocument, XsdValidator } from "libxml2-wasm";
import { type StopFunction, stopFunctions } from "../../domain/stop/stop-change.ts";
import { type Fault, maxKeptFaults } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import { decodeXml, findDoctype } from "../xml/decode-xml.ts";
import { doctypeFault, parseOptions, parseXml, unexplained } from "./parse-xml.ts";
import {
  defaultStopDocumentLimits,
  limitFault,
  limitWords,
  type RefusedStopDocument,
  type StopDocumentLimits,
  type StopDocumentOutcome,
  type StopInstruction,
} from "./stop-document.ts";
import { schemaFaults } from "./schema-check.ts";
import { meaningBeside, meaningOf, pathOfStop, withLines } from "./stop-meaning.ts";
import { type ReadDocument, type ReadInstruction, readStopText } from "./stop-reader.ts";
import { faultOfParseError, isLimitError } from "./xml-faults.ts";
import { writeStopXsd } from "../elements/xsd-writer.ts";

let compiledValidator: XsdValidator | undefined;

/** The compiled XSD, once a thread; it lives as long as the thread. */
function stopValidator(): XsdValidator {
  if (compiledValidator !== undefined) return compiledValidator;
  const schema = XmlDocument.fromBuffer(Buffer.from(writeStopXsd()), parseOptions);
  try {
    compiledValidator = XsdValidator.fromDoc(schema);
    return compiledValidator;
  } finally {
    schema.dispose();
  }
}

/** Compiles the XSD, so that the first document does not wait for it. */
export function prepareStopReader(): void {
  stopValidator();
}

function refused(
  faults: readonly Fault[],
  known: Omit<RefusedStopDocument, "kind" | "faults">,
): RefusedStopDocument {
  return { kind: "refused", faults: faults.slice(0, maxKeptFaults), ...known };
}

function firstElementText(text: string, name: string): string | undefined {
  const start = text.indexOf(`<${name}>`);
  if (start === -1) return undefined;
  const value = text.slice(start + name.length + 2, start + name.length + 202);
  return /^\s*([^<\s]{1,100})\s*</.exec(value)?.[1];
}

/** What can be told of a document that no parser takes: looked for in the text, so only for people and for order. */
function guessed(text: string): Omit<RefusedStopDocument, "kind" | "faults" | "isIncomplete"> {
  const documentId = firstElementText(text, "DocumentID");
  const firstFunction = firstElementText(text, "Function");
  const firstStopNbr = firstElementText(text, "StopNbr");
  return given({ documentId, firstFunction, firstStopNbr });
}

function known({ documentId, instructions }: ReadDocument): Omit<RefusedStopDocument, "kind" | "faults"> {
  const firstFunction = instructions[0]?.functionCode || undefined;
  const firstStopNbr = instructions[0]?.stopNbr || undefined;
  return { isIncomplete: false, ...given({ documentId, firstFunction, firstStopNbr }) };
}

const unfinishedMessage = /Premature end|not terminated|not finished|Couldn't find end|Document is empty/i;

/** The offset of a line and column as the parser tells them. */
function offsetOf(text: string, detail: ErrorDetail): number {
  let lineStart = 0;
  for (let line = 1; line < detail.line; line++) {
    const end = text.indexOf("\n", lineStart);
    if (end === -1) break;
    lineStart = end + 1;
  }
  return lineStart + detail.col - 1;
}

/** Whether a parser's first complaint is about the text having ended. */
function isAtEnd(text: string, detail: ErrorDetail): boolean {
  // A host that allocates the full size first leaves zero bytes behind what it has written so far.
  if (text.endsWith("\u0000") || text.trim() === "") return true;
  if (/<\/Stops?\s*>\s*$/.test(text.slice(-200))) return false;
  if (unfinishedMessage.test(detail.message) || !text.includes(">")) return true;
  // Half the end of a comment looks like a fault in the middle of it.
  if (detail.message.startsWith("Double hyphen") && text.endsWith("--")) return true;
  // The parser stands before the "!" of a comment or CDATA section whose opening is cut off, and before a cut letter.
  return /^(<?![-[A-Z]*)?\s*\uFFFD?$/.test(text.slice(offsetOf(text, detail)));
}

/** The longest text that the parser takes, whatever the settings say. */
const parserTextLength = 10_000_000;

/** The limit that a document has met in the parser, in the words of ours: the sender knows no others. */
function parserLimit({ message }: ErrorDetail, limits: StopDocumentLimits): string {
  if (/^Excessive depth/i.test(message)) return limitWords.depth(limits.maxDepth);
  if (/^Name too long/i.test(message)) return "a name is longer than 50000 characters";
  return limitWords.text(Math.min(limits.maxTextLength, parserTextLength));
}

function refuseUnparsed(
  text: string,
  details: readonly ErrorDetail[],
  limits: StopDocumentLimits,
): RefusedStopDocument {
  const first = details[0] ?? unexplained;
  const limit = details.find(isLimitError);
  if (limit !== undefined) {
    const fault = limitFault(parserLimit(limit, limits), limit.line);
    return refused([fault], { isIncomplete: false, ...guessed(text) });
  }
  return refused([faultOfParseError(first, text)], { isIncomplete: isAtEnd(text, first), ...guessed(text) });
}

function isStopFunction(code: string): code is StopFunction {
  return stopFunctions.some((one) => one === code);
}

interface MeantInstructions {
  readonly instructions: readonly StopInstruction[];
  readonly faults: readonly Fault[];
}

function instructionsOf(read: readonly ReadInstruction[], text: string, root: string): MeantInstructions {
  const faults: Fault[] = [];
  const instructions = read.map(({ functionCode, stopNbr, stop: fields, line }, index): StopInstruction => {
    // The XSD has been passed, so anything else is a fault of this program and not of the document.
    if (!isStopFunction(functionCode)) throw new Error("an instruction without a Function passed the XSD");
    // With 02 only Function and StopNbr count.
    if (functionCode === "02") return { function: functionCode, stopNbr, stop: { stopNbr }, line };
    const meant = meaningOf(fields, pathOfStop(root, index));
    if (faults.length < maxKeptFaults) faults.push(...meant.faults.map((fault) => ({ ...fault, stopNbr })));
    return { function: functionCode, stopNbr, stop: meant.stop, line };
  });
  return {
    instructions,
    faults: faults.length === 0 ? faults : withLines(faults.slice(0, maxKeptFaults), text),
  };
}

/** Faults of meaning of the stops in a document that has others: those that do not come of the others. */
function meaningFaultsBeside(
  { instructions }: ReadDocument,
  { text, root, told }: { readonly text: string; readonly root: string; readonly told: readonly Fault[] },
): readonly Fault[] {
  if (root !== "Stop" && root !== "Stops") return [];
  const found: Fault[] = [];
  for (const [index, { functionCode, stopNbr, stop }] of instructions.entries()) {
    if (found.length >= maxKeptFaults) break;
    // Of a deletion only its number counts, and without a Function nobody knows whether it is one.
    if (functionCode !== "01" && functionCode !== "03") continue;
    const faults = meaningBeside(stop, pathOfStop(root, index), told);
    found.push(...faults.map((fault) => (stopNbr === "" ? fault : { ...fault, stopNbr })));
  }
  return withLines(found.slice(0, maxKeptFaults), text);
}

/** Adds the number of the stop that the fault's path leads to. */
function withStopNumber(fault: Fault, instructions: readonly ReadInstruction[]): Fault {
  const path = /^\/(?:Stops\/)?Stop(?:\[(\d+)\])?(?:\/|$)/.exec(fault.path ?? "");
  const stopNbr = path === null ? undefined : instructions[Number(path[1] ?? 1) - 1]?.stopNbr;
  return stopNbr === undefined || stopNbr === "" ? fault : { ...fault, stopNbr };
}

/** Where a fault is, as far as both kinds of fault tell it. */
function placeOf({ line, path }: Fault): string {
  return `${line} ${path?.slice(path.lastIndexOf("/") + 1).replace(/\[\d+\]$/, "")}`;
}

function fromTheTop(some: readonly Fault[], others: readonly Fault[]): readonly Fault[] {
  return [...some, ...others].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)).slice(0, maxKeptFaults);
}

/** Those of the XSD and those of values, from the top of the document; a value that breaks the XSD is told once. */
function allFaults(ofSchema: readonly Fault[], ofValues: readonly Fault[]): readonly Fault[] {
  const told = new Set(ofSchema.map(placeOf));
  const others = ofValues.filter((fault) => !told.has(placeOf(fault)));
  if (others.length === 0 || ofSchema.length === 0) return [...ofSchema, ...others].slice(0, maxKeptFaults);
  return fromTheTop(ofSchema, others);
}

function readParsed(parsed: XmlDocument, text: string, limits: StopDocumentLimits): StopDocumentOutcome {
  if (parsed.dtd !== null)
    return refused([{ ...doctypeFault, line: 1 }], { isIncomplete: false, ...guessed(text) });
  const rootName = parsed.root.name;
  const outcome = readStopText(text, limits);
  if (outcome.kind === "overLimit") {
    return refused([limitFault(outcome.message, outcome.line)], { isIncomplete: false, ...guessed(text) });
  }
  const { document } = outcome;
  const { documentId, companyCode } = document;
  const isDeletion = (index: number) => document.instructions[index]?.functionCode === "02";
  const ofSchema = schemaFaults(stopValidator(), { document: parsed, text }, isDeletion).map((fault) =>
    withStopNumber(fault, document.instructions),
  );
  const told = allFaults(ofSchema, document.faults);
  if (told.length > 0) {
    const ofMeaning = meaningFaultsBeside(document, { text, root: rootName, told });
    return refused(fromTheTop(told, ofMeaning), known(document));
  }
  const meant = instructionsOf(document.instructions, text, rootName);
  if (meant.faults.length > 0) return refused(meant.faults, known(document));
  return {
    kind: "read",
    document: { ...given({ documentId, companyCode }), instructions: meant.instructions },
  };
}

/**
 * Reads one stop document. An expected fault of the document is an outcome; what throws is a fault of the parser, after
 * which its thread must not be used again. `charset` is the parameter of the Content-Type of one that came over HTTP.
 */
export function readStopDocument(
  bytes: Buffer,
  limits: StopDocumentLimits = defaultStopDocumentLimits,
  charset?: string,
): StopDocumentOutcome {
  if (bytes.length > limits.maxBytes) {
    return refused([limitFault(`it has more than ${limits.maxBytes} bytes`)], { isIncomplete: false });
  }
  const decoded = decodeXml(bytes, charset);
  if (decoded.kind === "refused") return refused([decoded.fault], { isIncomplete: false });
  const { text } = decoded;
  const doctypeAt = findDoctype(text);
  if (doctypeAt !== undefined) {
    const line = text.slice(0, doctypeAt).split("\n").length;
    return refused([{ ...doctypeFault, line }], { isIncomplete: false, ...guessed(text) });
  }
  const parsed = parseXml(decoded);
  if (!(parsed instanceof XmlDocument)) return refuseUnparsed(text, parsed, limits);
  try {
    return readParsed(parsed, text, limits);
  } finally {
    parsed.dispose();
  }
}
