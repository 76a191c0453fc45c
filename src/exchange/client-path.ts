/**
 * The one normaliser of client paths. Purely lexical: `..` never leaves the root, and what comes out is a list of clean
 * components which are resolved one by one.
 */
import { ExchangeError } from "./exchange-session.ts";

const maxPathBytes = 1024;
const maxComponentBytes = 255;

// Control characters, and the replacement character that stands for bytes which were not UTF-8: two different names
// would become one.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression is for them
const refusedCharacters = /[\u0000-\u001f\u007f\\\ufffd]/;

function refuse(message: string): never {
  throw new ExchangeError("badName", message);
}

/** The components of a client path; an empty list is the root. Throws `badName`. */
export function componentsOf(path: string): string[] {
  if (refusedCharacters.test(path) || !isWellFormed(path)) {
    refuse("The name has a control character, a backslash or bytes that are not UTF-8; use a plain name");
  }
  if (Buffer.byteLength(path) > maxPathBytes) refuse(`The path is longer than ${maxPathBytes} bytes`);
  const components: string[] = [];
  for (const component of path.split("/")) {
    if (component === "" || component === ".") continue;
    if (component === "..") components.pop();
    else components.push(checkedComponent(component));
  }
  return components;
}

function checkedComponent(component: string): string {
  if (Buffer.byteLength(component) <= maxComponentBytes) return component;
  return refuse(`The name is longer than ${maxComponentBytes} bytes`);
}

/** Whether the text has no half of a surrogate pair, which would be written as the replacement character. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Whether a listing may show an entry of a folder on disk: not hidden, and a name that a client can send back. */
export function isShownName(name: string): boolean {
  return !name.startsWith(".") && !refusedCharacters.test(name);
}
