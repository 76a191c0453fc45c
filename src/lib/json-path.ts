/** Where in a JSON text a position is, for messages: only asked for when something is wrong there. */

interface Level {
  /** The index in a list; undefined in an object. */
  index: number | undefined;
  /** The key of the value that comes now. */
  key: string;
}

const maxKeyLength = 60;

function pathOf(levels: readonly Level[]): string {
  let path = "";
  for (const { index, key } of levels) {
    if (index !== undefined) path += `[${index}]`;
    else if (key !== "") path += path === "" ? key : `.${key}`;
  }
  return path;
}

function keyOf(literal: string): string {
  const key = literal.slice(1, -1);
  return key.length > maxKeyLength ? `${key.slice(0, maxKeyLength - 3)}...` : key;
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs;

/**
 * The path of the value at `position`, such as `stops[3].to.address.zip`; empty for the document itself. Keys stand as they
 * are written, escapes included. `text` is well-formed up to there.
 */
export function jsonPathAt(text: string, position: number): string {
  const levels: Level[] = [];
  let last = "";
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const current = levels.at(-1);
    // A text that is cut by the position holds it; a key names itself.
    if (index >= position || index + token.length > position) {
      if (current !== undefined && current.index === undefined && current.key === "" && token.startsWith('"'))
        current.key = keyOf(token);
      break;
    }
    if (token === "{") levels.push({ index: undefined, key: "" });
    else if (token === "[") levels.push({ index: 0, key: "" });
    else if (token === "}" || token === "]") levels.pop();
    else if (token === ":" && current !== undefined) current.key = keyOf(last);
    else if (token === "," && current?.index !== undefined) current.index += 1;
    else if (token === "," && current !== undefined) current.key = "";
    last = token;
  }
  return pathOf(levels);
}
