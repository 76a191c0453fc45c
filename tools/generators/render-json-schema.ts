import type { TSchema } from "@sinclair/typebox";
import { configSchema } from "../../src/config/schema.ts";
import { keywordsOf, type SettingKind } from "../../src/config/reader/setting.ts";
import { descriptionWithRestart } from "./setting-text.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

function renderEach(schemas: Readonly<Record<string, TSchema>>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, render(schema)]));
}

function isContainer(kind: SettingKind): boolean {
  return kind === "section" || kind === "map";
}

/** In the file only that is required which has neither a default nor settings that have one. */
function requiredInFile(schema: TSchema): string[] {
  const { required = [], properties = {} } = keywordsOf(schema);
  return required.filter((name) => {
    const property = properties[name];
    if (property === undefined) return false;
    const { default: value, dropgate } = keywordsOf(property);
    return value === undefined && !isContainer(dropgate.kind);
  });
}

function render(schema: TSchema): JsonSchema {
  const { dropgate, required, properties, patternProperties, items, variants, ...keywords } =
    keywordsOf(schema);
  const names = requiredInFile(schema);
  return {
    ...keywords,
    description: descriptionWithRestart(keywordsOf(schema)),
    // A section whose lines are all commented out is null to YAML.
    ...(isContainer(dropgate.kind) ? { type: ["object", "null"] } : {}),
    ...(properties === undefined ? {} : { properties: renderEach(properties) }),
    ...(patternProperties === undefined ? {} : { patternProperties: renderEach(patternProperties) }),
    ...(items === undefined ? {} : { items: render(items) }),
    // Whatever is null to YAML has no type.
    ...(variants === undefined
      ? {}
      : { oneOf: Object.values(variants).map((variant) => ({ ...render(variant), type: "object" })) }),
    ...(names.length === 0 ? {} : { required: names }),
  };
}

/** The text of `config/dropgate.schema.json`: plain JSON Schema (draft 7) for editors. */
export function renderJsonSchema(): string {
  const document = { $schema: "http://json-schema.org/draft-07/schema#", title: "dropgate.yaml" };
  return `${JSON.stringify({ ...document, ...render(configSchema) }, undefined, 2)}\n`;
}
