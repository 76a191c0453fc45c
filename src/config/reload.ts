/** What a reload (SIGHUP) can take over while running and what waits for a restart; the schema says which is which. */
import { isDeepStrictEqual } from "node:util";
import type { TSchema } from "@sinclair/typebox";
import { joinPath } from "./reader/reading.ts";
import { type Config, configSchema } from "./schema.ts";
import { Secret } from "./reader/secret.ts";
import { keywordsOf, variantOf } from "./reader/setting.ts";

export interface ConfigChange {
  /** Dotted path of the setting; a list counts as one setting, a company that came or went as one too. */
  readonly path: string;
  readonly needsRestart: boolean;
}

type Values = Readonly<Record<string, unknown>>;

function isEqual(before: unknown, after: unknown): boolean {
  return before instanceof Secret ? before.equals(after) : isDeepStrictEqual(before, after);
}

function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Secret);
}

function schemaOfChild(schema: TSchema, name: string): TSchema | undefined {
  const { properties, patternProperties } = keywordsOf(schema);
  return properties?.[name] ?? Object.values(patternProperties ?? {})[0];
}

interface Compared {
  readonly schema: TSchema;
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The value in force after a reload; notes what changed. */
function mergeSetting({ schema, path, before, after }: Compared, changes: ConfigChange[]): unknown {
  const keywords = keywordsOf(schema);
  const variant = variantOf(keywords, after);
  if (variant !== undefined && variant === variantOf(keywords, before))
    return mergeSetting({ schema: variant, path, before, after }, changes);
  const { dropgate } = keywords;
  const hasChildren = dropgate.kind === "section" || dropgate.kind === "map";
  if (hasChildren && isValues(before) && isValues(after))
    return mergeChildren({ schema, path, before, after }, changes);
  if (isEqual(before, after)) return before;
  changes.push({ path, needsRestart: dropgate.needsRestart });
  return dropgate.needsRestart ? before : after;
}

function mergeChildren(
  { schema, path, before, after }: Compared & { before: Values; after: Values },
  changes: ConfigChange[],
): Values {
  const values: Record<string, unknown> = Object.create(Object.getPrototypeOf(after));
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const child = schemaOfChild(schema, name);
    if (child === undefined) continue;
    const compared = { schema: child, path: joinPath(path, name), before: before[name], after: after[name] };
    const value = mergeSetting(compared, changes);
    if (value !== undefined) values[name] = value;
  }
  return Object.freeze(values);
}

/** Which settings differ, and for each whether it can be taken over while running. */
export function reloadDifference(before: Config, after: Config): ConfigChange[] {
  const changes: ConfigChange[] = [];
  mergeSetting({ schema: configSchema, path: "", before, after }, changes);
  return changes;
}

/** The configuration in force after a reload: the new one, with the old values of what needs a restart. Frozen. */
export function reloadedConfig(before: Config, after: Config): Config {
  return mergeSetting({ schema: configSchema, path: "", before, after }, []) as Config;
}
