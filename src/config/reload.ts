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

/** What a setting was and is, as it may be shown: secrets are masked. */
export interface ShownSetting {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

interface FoundChange extends ConfigChange {
  readonly before: unknown;
  readonly after: unknown;
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
function mergeSetting({ schema, path, before, after }: Compared, changes: FoundChange[]): unknown {
  const keywords = keywordsOf(schema);
  const variant = variantOf(keywords, after);
  if (variant !== undefined && variant === variantOf(keywords, before))
    return mergeSetting({ schema: variant, path, before, after }, changes);
  const { dropgate } = keywords;
  const hasChildren = dropgate.kind === "section" || dropgate.kind === "map";
  if (hasChildren && isValues(before) && isValues(after))
    return mergeChildren({ schema, path, before, after }, changes);
  if (isEqual(before, after)) return before;
  changes.push({ path, needsRestart: dropgate.needsRestart, before, after });
  return dropgate.needsRestart ? before : after;
}

function mergeChildren(
  { schema, path, before, after }: Compared & { before: Values; after: Values },
  changes: FoundChange[],
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
  return foundChanges(before, after).map(({ path, needsRestart }) => ({ path, needsRestart }));
}

function foundChanges(before: Config, after: Config): readonly FoundChange[] {
  const changes: FoundChange[] = [];
  mergeSetting({ schema: configSchema, path: "", before, after }, changes);
  return changes;
}

const mask = "(secret)";

/** Secrets masked, wherever they are. */
function masked(value: unknown): unknown {
  if (value instanceof Secret) return mask;
  if (Array.isArray(value)) return value.map(masked);
  if (!isValues(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, masked(part)]));
}

/** What differs, value by value. Of a secret that is another one, only that it is. */
export function shownDifference(before: Config, after: Config): readonly ShownSetting[] {
  return foundChanges(before, after).map((change) => {
    const [was, is] = [masked(change.before), masked(change.after)];
    return {
      path: change.path,
      before: was,
      after: isDeepStrictEqual(was, is) ? `${mask}, another one` : is,
    };
  });
}

/** The configuration in force after a reload: the new one, with the old values of what needs a restart. Frozen. */
export function reloadedConfig(before: Config, after: Config): Config {
  return mergeSetting({ schema: configSchema, path: "", before, after }, []) as Config;
}
