import type { TSchema } from "@sinclair/typebox";
import { joinPath, quoted } from "./reading.ts";
import { configSchema } from "../schema.ts";
import { settingsBelow } from "./setting-list.ts";
import { suggestName } from "./suggest-name.ts";

/** What to say about a key that the schema does not have: the near one, the same one elsewhere, or what there is. */
export function unknownNameFault(
  name: string,
  parentPath: string,
  properties: Readonly<Record<string, TSchema>>,
): string {
  const known = Object.keys(properties);
  const near = suggestName(name, known);
  if (near !== undefined) return `unknown setting; did you mean ${quoted(near)}?`;
  const elsewhere = settingsBelow(configSchema)
    .map(({ path }) => path)
    .filter((path) => path.endsWith(`.${name}`) && path !== joinPath(parentPath, name));
  if (elsewhere.length > 0)
    return `unknown setting here; did you mean ${elsewhere.map(quoted).join(" or ")}?`;
  return `unknown setting; known here: ${known.join(", ")}`;
}
