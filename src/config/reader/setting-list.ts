import type { TSchema } from "@sinclair/typebox";
import { joinPath } from "./reading.ts";
import { keywordsOf, type SettingKeywords } from "./setting.ts";

/** One place of the schema; names that the user chooses stand as `<CODE>`, items of lists as `[]`. */
export interface ListedSetting {
  readonly path: string;
  readonly schema: TSchema;
  readonly setting: SettingKeywords;
  readonly isRequired: boolean;
}

/** What may stand in a map: each variant by itself, under its type in the place of the name (`<https>`). */
function itemsOfMap(item: TSchema, keyName: string): [name: string, schema: TSchema][] {
  const { variants } = keywordsOf(item);
  if (variants === undefined) return [[keyName, item]];
  return Object.entries(variants).map(([type, section]) => [`<${type}>`, section]);
}

/** The direct children of a section, map or list; nothing for a single value. */
export function childrenOf(schema: TSchema, path: string): ListedSetting[] {
  const { properties = {}, patternProperties = {}, items, required = [], dropgate } = keywordsOf(schema);
  const inMap = Object.values(patternProperties).flatMap((item) =>
    itemsOfMap(item, dropgate.keyName ?? "*").map(([name, schema]) => ({
      path: joinPath(path, name),
      schema,
      isRequired: false,
    })),
  );
  const inSection = Object.entries(properties).map(([name, item]) => ({
    path: joinPath(path, name),
    schema: item,
    isRequired: required.includes(name),
  }));
  const inList = items === undefined ? [] : [{ path: `${path}[]`, schema: items, isRequired: false }];
  return [...inSection, ...inMap, ...inList].map((child) => ({
    ...child,
    setting: keywordsOf(child.schema),
  }));
}

/** Everything below a schema, parents before children. */
export function settingsBelow(schema: TSchema, path = ""): ListedSetting[] {
  return childrenOf(schema, path).flatMap((child) => [child, ...settingsBelow(child.schema, child.path)]);
}
