/**
 * Reads JSON that a stranger sent: UTF-8 or nothing, bounded depth, no key twice, no `__proto__`, no number that would
 * become another one, no half of a character.
 *
 * `JSON.parse` alone keeps the last of two equal keys, so a checker and a reader of the same text could see different
 * values. Most texts are only skimmed: when the value has as many keys as the text, none stood twice. The scan of all others
 * needs no recursion and no memory beyond the keys of the objects that are open.
 */
import { DropgateError, messageOf } from "./errors.ts";
import { jsonPathAt } from "./json-path.ts";

const quote = 0x22;
const comma = 0x2c;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const upperE = 0x45;
const lowerE = 0x65;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const utf8 = new TextDecoder("utf-8", { fatal: true });

function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** Where the string that opens at `start` closes; the end of the text when it does not. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    if ((end - before) % 2 === 1) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

function keyOf(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  if (!raw.includes("\\")) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw; // a broken escape: the parse that follows reports it with its position
  }
}

function checkKey(keys: Set<string>, key: string, text: string, at: number): void {
  const shown = key.length > 60 ? `${key.slice(0, 57)}...` : key;
  if (key === "__proto__") {
    throw new DropgateError(
      "notJson",
      `the body has the key "__proto__" (line ${lineAt(text, at)}). Leave it out.`,
    );
  }
  if (keys.has(key)) {
    const message = `the body has the key "${shown}" twice in one object (line ${lineAt(text, at)}). Send it once.`;
    throw new DropgateError("notJson", message);
  }
  keys.add(key);
}

/** Up to here every number keeps its digits. */
const surelyExactLength = 15;
const numberForm = /(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The digits of a literal without sign, point, exponent, and zeros at the ends. */
function significantDigits(literal: string): string {
  const digits = literal.replace(/[eE].*$/, "").replace(/\D/g, "");
  let start = 0;
  let end = digits.length;
  while (digits.charCodeAt(start) === zero) start += 1;
  while (end > start && digits.charCodeAt(end - 1) === zero) end -= 1;
  return digits.slice(start, end);
}

/** Whether the literal, without its sign, has the same integer digits once it is a number. */
function keepsIntegerDigits(literal: string): boolean {
  const value = Number(literal);
  if (value <= Number.MAX_SAFE_INTEGER) return true;
  return Number.isFinite(value) && significantDigits(literal) === significantDigits(String(value));
}

/** The literal of the number that begins at `start`. */
function numberAt(text: string, start: number): string {
  numberForm.lastIndex = start;
  return numberForm.exec(text)?.[0] ?? "";
}

/** Where the digits and points that begin at `start` are over. */
function endOfDigits(text: string, start: number): number {
  let end = start + 1;
  for (let code = text.charCodeAt(end); (code >= zero && code <= nine) || code === point; ) {
    end += 1;
    code = text.charCodeAt(end);
  }
  return end;
}

/** Where the number that begins at `start` ends, and whether it keeps its integer digits. */
function readNumber(text: string, start: number): { readonly end: number; readonly isKept: boolean } {
  const end = endOfDigits(text, start);
  const next = text.charCodeAt(end);
  if (end - start <= surelyExactLength && next !== lowerE && next !== upperE) return { end, isKept: true };
  const literal = numberAt(text, start);
  return { end: Math.max(end, start + literal.length), isKept: keepsIntegerDigits(literal) };
}

/** Throws for the number at `start`, which would become another one. */
function refuseNumber(text: string, start: number): never {
  const literal = numberAt(text, start);
  const path = jsonPathAt(text, start);
  const shown = literal.length > 60 ? `${literal.slice(0, 57)}...` : literal;
  const value = Number(literal);
  const kept = Number.isFinite(value) ? `would become ${value}` : "is too large";
  const message = `${path === "" ? "the body" : path} has the number ${shown} (line ${lineAt(text, start)}), which as a number ${kept}. Send it as text, in quotes.`;
  const fault = { code: "wrongType", message, ...(path === "" ? {} : { path }) } as const;
  throw new DropgateError("wrongType", message, { faults: [fault] });
}

const surrogateEscape = /\\u[dD][89a-fA-F]/;
/** Every escape in its turn, so that `\\\\ud800`, which is a backslash and a word, is not taken for one. */
const escapes =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|.)/gs;

/** Throws for half of a surrogate pair: two texts that differ in it alone would be stored as the same one. */
function checkSurrogates(text: string): void {
  // Most texts have no escape of this kind: the plain search is much faster than the pattern.
  if (!text.includes("\\u") || !surrogateEscape.test(text)) return;
  for (const { 1: half, index } of text.matchAll(escapes)) {
    if (half === undefined) continue;
    const path = jsonPathAt(text, index);
    const where = path === "" ? "" : ` in ${path}`;
    const message = `the body has half a character, \\${half}${where} (line ${lineAt(text, index)}). Send both halves of the surrogate pair.`;
    throw new DropgateError("notJson", message);
  }
}

interface Outline {
  /** How many keys the text has, if it is JSON. */
  readonly keys: number;
  /** Where the first number stands that would become another one. */
  readonly changed: number | undefined;
}

/** Skims the text; undefined when it may be nested too deep or have a key that must not be: then it is read closely. */
function outlineOf(text: string, maxDepth: number): Outline | undefined {
  // Written with an escape, the forbidden key does not show.
  if (text.includes("__proto__") || text.includes("\\u")) return undefined;
  let depth = 0;
  let keys = 0;
  let changed: number | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === colon) {
      keys += 1;
    } else if (code >= zero && code <= nine) {
      const number = readNumber(text, at);
      if (!number.isKept) changed ??= at;
      at = number.end - 1;
    } else if (code === openBrace || code === openBracket) {
      depth += 1;
      if (depth > maxDepth) return undefined;
    } else if (code === closeBrace || code === closeBracket) {
      depth -= 1;
    }
  }
  return { keys, changed };
}

/** How many keys there are in a value and in all within it. */
function countKeys(value: unknown): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const entry of value) count += countKeys(entry);
  } else if (typeof value === "object" && value !== null) {
    const fields = value as Readonly<Record<string, unknown>>;
    for (const key in fields) count += 1 + countKeys(fields[key]);
  }
  return count;
}

/**
 * Throws for a text that is nested too deep or has a key twice; leaves every other fault to the parse. Tells where the
 * first number stands that would become another one: whether it is a number at all is known only after the parse.
 */
function checkStructure(text: string, maxDepth: number): number | undefined {
  const open: (Set<string> | undefined)[] = [];
  let keys: Set<string> | undefined;
  let isKeyNext = false;
  let changed: number | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = endOfString(text, at);
      if (isKeyNext && keys !== undefined) checkKey(keys, keyOf(text, at, end), text, at);
      isKeyNext = false;
      at = end;
    } else if (code === comma) {
      isKeyNext = keys !== undefined;
    } else if (code >= zero && code <= nine) {
      const number = readNumber(text, at);
      if (!number.isKept) changed ??= at;
      at = number.end - 1;
    } else if (code === openBrace || code === openBracket) {
      keys = code === openBrace ? new Set() : undefined;
      isKeyNext = keys !== undefined;
      open.push(keys);
      if (open.length > maxDepth) {
        const message = `the body is nested deeper than ${maxDepth} levels (line ${lineAt(text, at)}). Flatten it.`;
        throw new DropgateError("tooLarge", message);
      }
    } else if (code === closeBrace || code === closeBracket) {
      open.pop();
      keys = open.at(-1);
      isKeyNext = false;
    }
  }
  return changed;
}

const blanks = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Throws 909 for a text of more values than that, before anything is built of it: a value costs a hundred times the bytes
 * that `[],` has. One more than there are commas, in each list and object that has something in it.
 */
function checkValueCount(text: string, maxValues: number): void {
  // Each value but the last has at least a comma behind it.
  if (text.length < 2 * maxValues) return;
  let count = 1;
  let last = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (blanks.has(code)) continue;
    const isFilled = last !== openBracket && last !== openBrace;
    if (code === quote) at = endOfString(text, at);
    else if (code === comma || ((code === closeBracket || code === closeBrace) && isFilled)) count += 1;
    if (count > maxValues) {
      const message = `the body has more than ${maxValues} values (line ${lineAt(text, at)}). Send it in several requests.`;
      throw new DropgateError("tooLarge", message);
    }
    last = code;
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new DropgateError("notJson", "the body is not valid UTF-8. Send JSON in UTF-8.", { cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DropgateError("notJson", `the body is not JSON: ${messageOf(cause).slice(0, 200)}`, { cause });
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the close look says what is wrong
  }
}

function parseClosely(text: string, maxDepth: number): unknown {
  const changed = checkStructure(text, maxDepth);
  const value = parse(text);
  if (changed !== undefined) refuseNumber(text, changed);
  checkSurrogates(text);
  return value;
}

export interface JsonLimits {
  /** Levels of objects and lists within each other. */
  readonly maxDepth: number;
  /** Objects, lists, texts, numbers, true, false and null together. */
  readonly maxValues?: number;
}

/**
 * The value of a JSON text in UTF-8 (a byte order mark is taken). Throws `notJson` (900) for anything else, for an empty
 * text, a key that occurs twice in one object, the key `__proto__` and half a surrogate pair, `wrongType` (902) for a
 * number whose integer digits a double does not keep, and `tooLarge` (909) beyond the limits.
 */
export function parseJsonBytes(bytes: Uint8Array, options: JsonLimits): unknown {
  const text = decode(bytes);
  if (options.maxValues !== undefined) checkValueCount(text, options.maxValues);
  if (text.trim() === "") throw new DropgateError("notJson", "the body is empty. Send a JSON document.");
  const outline = outlineOf(text, options.maxDepth);
  const value = outline === undefined ? undefined : tryParse(text);
  // A key that stands twice is missing once in the value. Half of the time of a look at each key.
  if (outline !== undefined && value !== undefined && countKeys(value) === outline.keys) {
    if (outline.changed !== undefined) refuseNumber(text, outline.changed);
    return value;
  }
  return parseClosely(text, options.maxDepth);
}
