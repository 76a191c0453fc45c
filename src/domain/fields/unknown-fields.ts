/** Fields that a definition does not name, for hosts that want them reported (`http.unknownFields: refuse`). */
import type { TSchema } from "@sinclair/typebox";
import { type Fault, maxKeptFaults } from "../../lib/errors.ts";
import { alternativesOf } from "./fields.ts";
import { isFields } from "./fields-of-json.ts";

/** The part of a definition that says what is in a list or an object: a union's member with a form, else itself. */
function formOf(schema: TSchema): TSchema {
  const isForm = (one: TSchema) => one["type"] === "object" || one["type"] === "array";
  return alternativesOf(schema).find(isForm) ?? schema;
}

function collect(schema: TSchema, value: unknown, path: string, faults: Fault[]): void {
  if (faults.length >= maxKeptFaults) return;
  const form = formOf(schema);
  if (Array.isArray(value)) {
    const items = form["items"] as TSchema | undefined;
    if (items === undefined) return;
    for (const [index, item] of value.entries()) collect(items, item, `${path}[${index}]`, faults);
    return;
  }
  const properties = form["properties"] as Readonly<Record<string, TSchema>> | undefined;
  if (properties === undefined || !isFields(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    const at = path === "" ? name : `${path}.${name}`;
    if (Object.hasOwn(properties, name)) collect(properties[name] as TSchema, inner, at, faults);
    // null means absent, as in known fields.
    else if (inner !== null && faults.length < maxKeptFaults)
      faults.push({
        code: "wrongType",
        path: at,
        message: `${at} is no field of the specification. Leave it out.`,
      });
  }
}

/** A fault for each unknown field, at any depth; at most 50. `path` is where the value stands in the request. */
export function unknownFieldFaults(schema: TSchema, value: unknown, path: string): Fault[] {
  const faults: Fault[] = [];
  collect(schema, value, path, faults);
  return faults;
}
