/** One mapping from beginning to end: bytes → value → expression → JSON text. Runs in the mapping processes. */
import type jsonata from "jsonata";
import { readXmlValue } from "../documents/reading/read-xml-value.ts";
import { DropgateError, type ErrorCode, type Fault } from "../lib/errors.ts";
import { parseJsonBytes } from "../lib/json-text.ts";
import { compileExpression, faultOfExpression, isOutOfTime } from "./compile-expression.ts";
import { type Integration, type MappingRequest, outOfTimeMessage } from "./integration.ts";
import { toPlainJson } from "./plain-json.ts";

/** A job of a mapping process. */
export interface MappingJob extends MappingRequest {
  readonly integration: Pick<Integration, "expression" | "input" | "timeoutMs" | "maxOutputBytes">;
}

/** Its answer. */
export type MappingOutcome =
  | { readonly kind: "mapped"; readonly text: string }
  | { readonly kind: "refused"; readonly faults: readonly Fault[] };

/** Beyond this number the oldest compiled expression is dropped: reloads bring new ones. */
const maxCompiled = 50;
const compiled = new Map<string, jsonata.Expression>();

function refused(code: ErrorCode, message: string): MappingOutcome {
  return { kind: "refused", faults: [{ code, message }] };
}

/** `$text(element)` in expressions: the text of an XML element, which is an object when it has attributes; of a list each. */
function textOf(element: unknown): unknown {
  if (Array.isArray(element)) return element.map(textOf);
  if (typeof element !== "object" || element === null) return element;
  return Object.hasOwn(element, "#text") ? Reflect.get(element, "#text") : "";
}

function expressionOf({ serviceName, integration }: MappingJob): jsonata.Expression {
  const { expression: text, timeoutMs } = integration;
  const key = `${timeoutMs} ${text}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const outcome = compileExpression(text, { timeoutMs });
  // It was compiled before, so this is no fault of the body.
  if (outcome.kind === "faulty")
    throw new Error(`the expression of ${serviceName} does not compile: ${outcome.fault.message}`);
  const [oldest] = compiled.keys();
  if (compiled.size >= maxCompiled && oldest !== undefined) compiled.delete(oldest);
  outcome.expression.registerFunction("text", textOf, "<x-:x>");
  compiled.set(key, outcome.expression);
  return outcome.expression;
}

type ReadBody =
  | { readonly kind: "read"; readonly value: unknown }
  | { readonly kind: "refused"; readonly faults: readonly Fault[] };

function readBody({ bytes, charset, maxDepth, maxValues, integration }: MappingJob): ReadBody {
  if (integration.input === "xml") {
    const read = readXmlValue(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), charset);
    return read.kind === "read" ? read : { kind: "refused", faults: [read.fault] };
  }
  try {
    return {
      kind: "read",
      value: parseJsonBytes(bytes, { maxDepth, ...(maxValues === undefined ? {} : { maxValues }) }),
    };
  } catch (error) {
    if (error instanceof DropgateError) return { kind: "refused", faults: error.faults };
    throw error;
  }
}

/** jsonata tells what went wrong by throwing; all of it is about this expression and this body. */
function refusedBy(thrown: unknown, { serviceName, integration }: MappingJob): MappingOutcome {
  if (isOutOfTime(thrown)) return refused("tooLarge", outOfTimeMessage(serviceName, integration.timeoutMs));
  const { message, line, column } = faultOfExpression(thrown, integration.expression);
  const place = line === undefined ? "" : ` (line ${line}, column ${column} of its expression)`;
  const text = `the integration ${serviceName} cannot map the body: ${message.replace(/\.$/, "")}${place}. Correct the body, or tell the operator.`;
  return refused("wrongType", text);
}

/** Maps a body. What is wrong with body, expression or result is a value; what throws is a fault of this program. */
export async function mapBody(job: MappingJob): Promise<MappingOutcome> {
  const { serviceName, companyCode, importKind, maxDepth, integration } = job;
  const expression = expressionOf(job);
  const body = readBody(job);
  if (body.kind === "refused") return body;
  let result: unknown;
  try {
    result = await expression.evaluate(body.value, { companyCode, serviceName, importKind });
  } catch (thrown) {
    return refusedBy(thrown, job);
  }
  const json = toPlainJson(result, { maxBytes: integration.maxOutputBytes, maxDepth });
  if (json.kind === "text") return { kind: "mapped", text: json.text };
  const words = `the integration ${serviceName} has made no document that can be taken: ${json.message}.`;
  if (json.kind === "tooLarge")
    return refused("tooLarge", `${words} Send the body in smaller parts, or tell the operator.`);
  return refused("wrongType", `${words} Correct the body, or tell the operator.`);
}
