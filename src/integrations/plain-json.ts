/**
 * Makes JSON text of an expression's result. Only plain JSON passes: no functions, no numbers that JSON does not have,
 * no `__proto__`, no half characters, nothing over the limits. Expressions may use one value in many places, so that a
 * small graph can be an endless text: the walk counts each visit and ends at the limit, before any text is made.
 */
export interface PlainJsonLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

export type PlainJson =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "tooLarge" | "notPlain"; readonly message: string };

class NotPlain extends Error {
  readonly kind: "tooLarge" | "notPlain";

  constructor(kind: "tooLarge" | "notPlain", message: string) {
    super(message);
    this.kind = kind;
  }
}

interface Walk {
  readonly limits: PlainJsonLimits;
  bytes: number;
}

/** Where the walk is, from the inside out; made into text only for a fault. */
interface Step {
  readonly above: Step | undefined;
  readonly key: string | number;
}

const maxKeyLength = 60;

function pathOf(step: Step | undefined): string {
  const keys: (string | number)[] = [];
  for (let at = step; at !== undefined; at = at.above) keys.unshift(at.key);
  const path = keys
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${key.slice(0, maxKeyLength)}`))
    .join("");
  return path === "" ? "the result" : path.replace(/^\./, "");
}

function refuse(step: Step | undefined, what: string): never {
  throw new NotPlain("notPlain", `${pathOf(step)} is ${what}`);
}

function count(walk: Walk, bytes: number): void {
  walk.bytes += bytes;
  if (walk.bytes > walk.limits.maxBytes)
    throw new NotPlain("tooLarge", `the document is larger than its limit of ${walk.limits.maxBytes} bytes`);
}

/** jsonata's functions and regular expressions are objects, or JavaScript functions, or both. */
function isFunctionLike(value: object): boolean {
  return "_jsonata_function" in value || "_jsonata_lambda" in value;
}

function checkText(walk: Walk, text: string, step: Step | undefined): void {
  // At least so many bytes: a bound to the walk, before a rope of small texts becomes one large one. The exact size comes later.
  count(walk, text.length + 1);
  if (!text.isWellFormed()) refuse(step, "a text with half a character");
}

function checkObject(walk: Walk, value: object, step: Step | undefined, depth: number): void {
  if (depth >= walk.limits.maxDepth)
    throw new NotPlain("tooLarge", `the document is nested deeper than ${walk.limits.maxDepth} levels`);
  if (isFunctionLike(value)) refuse(step, "a function");
  count(walk, 1);
  if (Array.isArray(value)) {
    for (const [key, entry] of value.entries()) checkValue(walk, entry, { above: step, key }, depth + 1);
    return;
  }
  for (const [key, entry] of Object.entries(value)) {
    const at = { above: step, key };
    if (key === "__proto__") refuse(at, "a key that is not taken");
    checkText(walk, key, at);
    if (entry !== undefined) checkValue(walk, entry, at, depth + 1);
  }
}

function checkValue(walk: Walk, value: unknown, step: Step | undefined, depth: number): void {
  count(walk, 1);
  if (typeof value === "string") checkText(walk, value, step);
  else if (typeof value === "number" && !Number.isFinite(value))
    refuse(step, `${value}, which is no number of JSON`);
  else if (typeof value === "function" || typeof value === "symbol") refuse(step, "a function");
  else if (typeof value === "bigint") refuse(step, "a number of a kind that JSON has not");
  else if (typeof value === "object" && value !== null) checkObject(walk, value, step, depth);
}

/** The text of a value; what cannot be one is told with its path. */
export function toPlainJson(value: unknown, limits: PlainJsonLimits): PlainJson {
  if (value === undefined) return { kind: "notPlain", message: "the result is nothing" };
  try {
    checkValue({ limits, bytes: 0 }, value, undefined, 0);
  } catch (error) {
    if (error instanceof NotPlain) return { kind: error.kind, message: error.message };
    throw error;
  }
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) <= limits.maxBytes) return { kind: "text", text };
  return { kind: "tooLarge", message: `the document is larger than its limit of ${limits.maxBytes} bytes` };
}
