/**
 * From definitions to the schemas of the API document: each named definition becomes one component, to which all others
 * refer, with the forms that requests may have instead of the canonical ones.
 */
import type { TSchema } from "@sinclair/typebox";
import { identifierPattern } from "../../src/domain/fields/identifier-text.ts";
import { type Json, wireFormats, wireIdentifierPattern, wireProperties } from "./openapi-wire-forms.ts";

/** An optional definition is a copy that shares its properties, so these tell definitions apart. */
function identityOf(definition: object): object {
  const properties: unknown = "properties" in definition ? definition.properties : undefined;
  return typeof properties === "object" && properties !== null ? properties : definition;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Null means the same as a field that is missing. */
function orNull(schema: Json): Json {
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf))
    return anyOf.some((one: unknown) => isObject(one) && one["type"] === "null")
      ? schema
      : { ...schema, anyOf: [...anyOf, { type: "null" }] };
  if (typeof type === "string" && schema["enum"] === undefined && schema["const"] === undefined)
    return { ...schema, type: [type, "null"] };
  return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: "null" }] };
}

export class SchemaCollector {
  readonly #names = new Map<object, string>();
  readonly #components = new Map<string, Json>();

  constructor(named: Readonly<Record<string, TSchema>>) {
    for (const [name, definition] of Object.entries(named)) this.#names.set(identityOf(definition), name);
  }

  /** The components that have been referred to so far, in the order of their names. */
  components(): Readonly<Record<string, Json>> {
    const byName = [...this.#components].sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(byName);
  }

  /** The schema as it stands in the document: a reference when the definition has a name. */
  schemaOf(definition: Json): Json {
    const name = this.#names.get(identityOf(definition));
    if (name === undefined) return this.#inline(definition);
    if (!this.#components.has(name)) {
      // Set before its parts are visited, for definitions that refer to themselves.
      this.#components.set(name, {});
      this.#components.set(name, this.#component(name, definition));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #component(name: string, definition: Json): Json {
    const schema = this.#inline(definition);
    const forms = wireProperties[name];
    if (forms === undefined || !isObject(schema["properties"])) return schema;
    const properties: Record<string, unknown> = { ...schema["properties"] };
    for (const [field, form] of Object.entries(forms)) {
      const own = properties[field];
      properties[field] = orNull(form(isObject(own) ? own : {}));
    }
    return { ...schema, properties };
  }

  #inline(definition: Json): Json {
    const { format, properties, ...rest } = definition;
    const schema: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(rest)) schema[key] = this.#value(value);
    if (isObject(properties)) {
      const required = new Set(Array.isArray(definition["required"]) ? definition["required"] : []);
      const converted = Object.entries(properties).map(([name, one]) => {
        const form = this.#value(one);
        return [name, required.has(name) || !isObject(form) ? form : orNull(form)];
      });
      schema["properties"] = Object.fromEntries(converted);
    }
    if (schema["pattern"] === identifierPattern) schema["pattern"] = wireIdentifierPattern;
    return typeof format === "string" ? { ...schema, ...wireFormats[format] } : schema;
  }

  #value(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#value(one));
    return isObject(value) ? this.schemaOf(value) : value;
  }
}
