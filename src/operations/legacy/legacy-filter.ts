/**
 * Filters of the legacy JSON retrieval (specification/legacy-services.md#filters): a filter name is a field of the
 * result, at any depth, in any case, with or without `stop` or `load` before it.
 */
import { DropgateError, type Fault, maxKeptFaults } from "../../lib/errors.ts";
import type { FieldTree } from "./legacy-shape.ts";

export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

type Path = readonly string[];

/** One filter: any of the values, at any of the places. */
export interface LegacyFilter {
  readonly paths: readonly Path[];
  readonly values: readonly string[];
}

export interface LegacyQuery {
  readonly filters: readonly LegacyFilter[];
  readonly limit: number;
  readonly offset: number;
}

export const defaultLimit = 500;
export const maxLimit = 5_000;

/** Places of each field name in lower case. `quantity` stands for its `value`. */
export type FieldIndex = ReadonlyMap<string, readonly Path[]>;

function collect(tree: FieldTree, prefix: Path, index: Map<string, Path[]>): void {
  for (const [name, below] of Object.entries(tree)) {
    const path = [...prefix, name];
    if (below !== true) collect(below, path, index);
    const filtered = below === true ? path : "value" in below ? [...path, "value"] : undefined;
    if (filtered === undefined) continue;
    const known = index.get(name.toLowerCase());
    if (known === undefined) index.set(name.toLowerCase(), [filtered]);
    else known.push(filtered);
  }
}

/** Makes the index of a result's fields, once. */
export function indexFields(tree: FieldTree): FieldIndex {
  const index = new Map<string, Path[]>();
  collect(tree, [], index);
  return index;
}

/** A field of the result itself has precedence over fields of the same name further down: `status` is the stop's. */
function nearest(paths: readonly Path[]): readonly Path[] {
  const own = paths.filter((path) => path.length === 1);
  return own.length > 0 ? own : paths;
}

function isOfLoad(path: Path): boolean {
  return path[0] === "loadId";
}

/** Whether the results are loads themselves. */
function isOfLoads(index: FieldIndex): boolean {
  return index.get("loadnbr")?.some((path) => path.length === 1) === true;
}

function placesOf(index: FieldIndex, name: string): readonly Path[] {
  const key = name.toLowerCase();
  const exact = index.get(key);
  if (exact !== undefined) return nearest(exact);
  const paths = index.get(key.slice(4)) ?? [];
  if (key.startsWith("load")) return isOfLoads(index) ? nearest(paths) : paths.filter(isOfLoad);
  if (key.startsWith("stop") && !isOfLoads(index)) return nearest(paths.filter((path) => !isOfLoad(path)));
  return [];
}

interface Paging {
  limit: number;
  offset: number;
}

function readPaging(paging: Paging, { name, value }: NamedValue): Fault | undefined {
  const key = name.toLowerCase() === "limit" ? "limit" : "offset";
  const number = Number(value);
  const [least, most] = key === "limit" ? [1, maxLimit] : [0, Number.MAX_SAFE_INTEGER];
  if (!/^\d{1,15}$/.test(value) || number < least || number > most) {
    const range = key === "limit" ? `from ${least} to ${most}` : "from 0";
    return { code: "wrongType", path: key, message: `${key} must be a whole number ${range}.` };
  }
  paging[key] = number;
  return undefined;
}

function unknownName(index: FieldIndex, name: string): Fault {
  const shown = name.length > 60 ? `${name.slice(0, 57)}...` : name;
  return {
    code: "unknownFilter",
    path: shown,
    message: `${shown} is not a field of the result. Filter by a field such as ${isOfLoads(index) ? "loadNbr" : "stopNbr"}, or page with limit and offset.`,
  };
}

/** Reads filters and paging. Throws 910 for names the result does not have, 902 for a limit or offset out of range. */
export function readLegacyQuery(index: FieldIndex, parameters: readonly NamedValue[]): LegacyQuery {
  const filters = new Map<string, { paths: readonly Path[]; values: string[] }>();
  const paging: Paging = { limit: defaultLimit, offset: 0 };
  const faults: Fault[] = [];
  for (const parameter of parameters) {
    const { name, value } = parameter;
    if (/^(limit|offset)$/i.test(name)) {
      const fault = readPaging(paging, parameter);
      if (fault !== undefined) faults.push(fault);
      continue;
    }
    const paths = placesOf(index, name);
    if (paths.length === 0) {
      faults.push(unknownName(index, name));
      continue;
    }
    // `sealNbr` and `stopSealNbr` are one filter, named twice.
    const key = paths.map((path) => path.join(".")).join("|");
    const known = filters.get(key);
    if (known === undefined) filters.set(key, { paths, values: [value] });
    else known.values.push(value);
  }
  const first = faults[0];
  if (first !== undefined)
    throw new DropgateError(first.code, first.message, { faults: faults.slice(0, maxKeptFaults) });
  return { filters: [...filters.values()], ...paging };
}

function isEqual(found: unknown, wanted: string): boolean {
  if (typeof found === "string") return found === wanted;
  if (typeof found === "number") return wanted.trim() !== "" && Number(wanted) === found;
  return typeof found === "boolean" && String(found) === wanted.toLowerCase();
}

function hasAt(value: unknown, path: Path, depth: number, values: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((item) => hasAt(item, path, depth, values));
  const name = path[depth];
  if (name === undefined) return values.some((wanted) => isEqual(value, wanted));
  if (typeof value !== "object" || value === null || !(name in value)) return false;
  return hasAt((value as Readonly<Record<string, unknown>>)[name], path, depth + 1, values);
}

/** Whether a result passes every filter. */
export function passesFilters(result: object, filters: readonly LegacyFilter[]): boolean {
  return filters.every(({ paths, values }) => paths.some((path) => hasAt(result, path, 0, values)));
}
