import { type Document, LineCounter, type ParsedNode, parseDocument, type YAMLError } from "yaml";
import { messageOf } from "../../lib/errors.ts";
import type { ConfigFault } from "./config-fault.ts";

export type Place = Pick<ConfigFault, "line" | "column">;

export interface ParsedYaml {
  /** The document's root, or null when it is empty. */
  readonly root: ParsedNode | null;
  readonly faults: readonly ConfigFault[];
  /** Line and column of an offset that a node of the document names. */
  placeOf(offset: number): Place;
}

const maxConfigBytes = 1_048_576;

const remedies: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "a tab may not indent; use spaces",
  MULTIPLE_DOCS: "only one document is read; remove what follows the line with ---",
  TAG_RESOLVE_FAILED: "tags (!…) are not supported; write the plain value",
};

/** A cron schedule may begin with *, which begins an alias in YAML. */
function remedyOf(message: string): string {
  return /unexpected alias/i.test(message) ? "a text that begins with * needs quotes" : message;
}

function unreadable(message: string): ParsedYaml {
  return { root: null, faults: [{ path: "", message }], placeOf: () => ({}) };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined; // The decoder's only failure is malformed UTF-8, which the caller reports.
  }
}

function compose(text: string, lineCounter: LineCounter): Document.Parsed | string {
  try {
    // Duplicate keys are found by our own reader, which knows their path.
    return parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false, version: "1.2" });
  } catch (error) {
    // Extreme nesting exhausts the parser's stack.
    return `is not readable as YAML: ${messageOf(error)}`;
  }
}

/** Parses one YAML 1.2 document, collecting every fault of its form. Never throws. */
export function parseYaml(bytes: Uint8Array): ParsedYaml {
  if (bytes.length > maxConfigBytes) return unreadable(`is over ${maxConfigBytes} bytes long`);
  const text = decode(bytes);
  if (text === undefined) return unreadable("is not UTF-8; save it as UTF-8");
  const lineCounter = new LineCounter();
  const document = compose(text, lineCounter);
  if (typeof document === "string") return unreadable(document);
  const placeOf = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  };
  const toFault = (error: YAMLError): ConfigFault => ({
    ...placeOf(error.pos[0]),
    path: "",
    message: remedies[error.code] ?? `not valid YAML: ${remedyOf(error.message)}`,
  });
  const faults = [...document.errors, ...document.warnings].map(toFault);
  return { root: document.contents, faults, placeOf };
}
