/**
 * Reads JSON that a stranger sent: UTF-8 or nothing, bounded depth, no key twice, no `__proto__`.
 *
 * `JSON.parse` alone keeps the last of two equal keys, so a checker and a reader of the same text could see different
 * values. The scan before it needs no recursion and no memory beyond the keys of the objects that are open.
 */
import { DropgateError, messageOf } from "./errors.ts";

const quote = 0x22;
const comma = 0x2c;
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

/** Throws for a text that is nested too deep or has a key twice; leaves every other fault to the parse. */
function checkStructure(text: string, maxDepth: number): void {
  const open: (Set<string> | undefined)[] = [];
  let keys: Set<string> | undefined;
  let isKeyNext = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = endOfString(text, at);
      if (isKeyNext && keys !== undefined) checkKey(keys, keyOf(text, at, end), text, at);
      isKeyNext = false;
      at = end;
    } else if (code === comma) {
      isKeyNext = keys !== undefined;
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
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new DropgateError("notJson", "the body is not valid UTF-8. Send JSON in UTF-8.", { cause });
  }
}

/**
 * The value of a JSON text in UTF-8 (a byte order mark is taken). Throws `notJson` (900) for anything else, for an empty
 * text, a key that occurs twice in one object and the key `__proto__`, and `tooLarge` (909) beyond `maxDepth` levels.
 */
export function parseJsonBytes(bytes: Uint8Array, options: { readonly maxDepth: number }): unknown {
  const text = decode(bytes);
  if (text.trim() === "") throw new DropgateError("notJson", "the body is empty. Send a JSON document.");
  checkStructure(text, options.maxDepth);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DropgateError("notJson", `the body is not JSON: ${messageOf(cause).slice(0, 200)}`, { cause });
  }
}
