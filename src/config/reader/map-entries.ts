import { isMap, isScalar } from "yaml";
import { containerFault } from "./read-scalar.ts";
import { type Found, isEmptyNode, joinPath, quoted, type Reading, refuse } from "./reading.ts";

/** One key of a YAML map with its value. */
export interface Entry extends Found {
  readonly name: string;
  readonly keyOffset: number;
}

/** The key as it is written: `007` stays `007`, although YAML reads a number. */
function nameOf(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  return key.source ?? String(key.value);
}

/**
 * The entries of a map, by name and in the order of the file; none when it is empty. Notes keys that are set twice or
 * are no names, and where each value is. Undefined when the node is not a map.
 */
export function entriesOf(
  found: Found,
  reading: Reading,
  wanted = "settings below it (`name: value`)",
): ReadonlyMap<string, Entry> | undefined {
  const entries = new Map<string, Entry>();
  if (isEmptyNode(found.node)) return entries;
  if (!isMap(found.node)) {
    refuse(reading, found, containerFault(found.node, wanted));
    return undefined;
  }
  for (const { key, value } of found.node.items) {
    const keyOffset = key.range[0];
    const name = nameOf(key);
    const path = joinPath(found.path, name ?? "?");
    const entry = {
      path,
      node: value,
      offset: isEmptyNode(value) ? keyOffset : (value?.range[0] ?? keyOffset),
    };
    if (name === undefined) refuse(reading, { ...entry, offset: keyOffset }, "a key must be a plain name");
    else if (entries.has(name)) {
      refuse(reading, { ...entry, offset: keyOffset }, `${quoted(name)} is set twice; keep one`);
    } else {
      entries.set(name, { ...entry, name, keyOffset });
      reading.places.set(path, reading.placeOf(entry.offset));
    }
  }
  return entries;
}
