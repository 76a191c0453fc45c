import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Every file below a folder by its path within it, with its bytes; hidden ones too. */
export function filesBelow(folder: string): ReadonlyMap<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path)]),
  );
}
