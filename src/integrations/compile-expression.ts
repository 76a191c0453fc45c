/** Compiles expressions, and translates jsonata's errors into messages with places. */
import jsonata from "jsonata";
import { positionOfSharedRegex } from "./shared-regex.ts";

/** What is wrong with an expression, or went wrong in it. */
export interface ExpressionFault {
  readonly message: string;
  /** Line and column, from 1, of the end of the part that is meant, where jsonata knows it. */
  readonly line?: number;
  readonly column?: number;
  /** That line of the expression, cut around the column. */
  readonly excerpt?: string;
}

export type CompiledExpression =
  | { readonly kind: "compiled"; readonly expression: jsonata.Expression }
  | { readonly kind: "faulty"; readonly fault: ExpressionFault };

export interface ExpressionLimits {
  readonly timeoutMs: number;
}

/** Calls within calls. Each level of the expression counts, so that a few dozen calls of a function are hundreds. */
const maxStack = 2_000;
/** Entries that one step, range or list of an expression may have. */
const maxSequence = 1_000_000;

const sharedRegexMessage =
  "a regular expression may only stand as an argument of $contains, $match, $replace or $split, where it is used: kept in a variable it gives wrong results";

const maxMessageLength = 300;
const excerptSide = 40;

function stringOf(thrown: unknown, name: "message" | "code"): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !(name in thrown)) return undefined;
  const value: unknown = Reflect.get(thrown, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function positionOf(thrown: unknown): number | undefined {
  if (typeof thrown !== "object" || thrown === null || !("position" in thrown)) return undefined;
  const { position } = thrown;
  return typeof position === "number" && position >= 0 ? position : undefined;
}

type Place = Required<Pick<ExpressionFault, "line" | "column" | "excerpt">>;

/** jsonata's offset is behind the part that it means. */
function placeOf(text: string, position: number): Place {
  const at = Math.min(Math.max(position - 1, 0), text.length);
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  const line = text.slice(0, lineStart).split("\n").length;
  const from = Math.max(lineStart, at - excerptSide);
  const to = Math.min(end === -1 ? text.length : end, at + excerptSide);
  return { line, column: at - lineStart + 1, excerpt: text.slice(from, to).trim() };
}

/** Messages for JavaScript's own errors. */
const plainWords: readonly (readonly [RegExp, string])[] = [
  [/^Maximum call stack size exceeded/, "it is nested too deep, or calls itself without end"],
  [
    /^Invalid string length|^Invalid array length|^Invalid count value/,
    "a text or list grows beyond every limit",
  ],
];

/** The fault of what compiling or evaluating `text` threw. Never has a stack trace; values of the data it may have. */
export function faultOfExpression(thrown: unknown, text: string): ExpressionFault {
  const said = stringOf(thrown, "message") ?? stringOf(thrown, "code") ?? "it failed";
  const words = plainWords.find(([form]) => form.test(said))?.[1] ?? said;
  const line = words.replace(/\s+/g, " ").trim();
  const message = line.length > maxMessageLength ? `${line.slice(0, maxMessageLength)}...` : line;
  const position = positionOf(thrown);
  return position === undefined ? { message } : { message, ...placeOf(text, position) };
}

/** The time limit that jsonata keeps itself was reached. */
export function isOutOfTime(thrown: unknown): boolean {
  return stringOf(thrown, "code") === "D1012";
}

/** Parses an expression; what is wrong with it is a value. */
export function compileExpression(text: string, { timeoutMs }: ExpressionLimits): CompiledExpression {
  try {
    const expression = jsonata(text, { timeout: timeoutMs, stack: maxStack, sequence: maxSequence });
    const position = positionOfSharedRegex(expression.ast());
    if (position === undefined) return { kind: "compiled", expression };
    return { kind: "faulty", fault: { message: sharedRegexMessage, ...placeOf(text, position) } };
  } catch (thrown) {
    return { kind: "faulty", fault: faultOfExpression(thrown, text) };
  }
}
