/** What differs between two versions of a stop, field by field. */
import { isDeepStrictEqual } from "node:util";

export interface FieldDifference {
  /** Path in the canonical stop, such as `to.address.zip`. */
  readonly path: string;
  /** Values of JSON; undefined where the field is not. */
  readonly before: unknown;
  readonly after: unknown;
}

/** Leaves by their path; empty objects and lists count as leaves. */
function leavesOf(value: unknown, path: string, into: Map<string, unknown>): Map<string, unknown> {
  const isBranch = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isBranch) return into.set(path, value);
  for (const [key, part] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    leavesOf(part, at, into);
  }
  return into;
}

/** Compares two stops given as JSON text; an absent one is as good as an empty one. */
export function differenceOfStops(
  before: string | undefined,
  after: string | undefined,
): readonly FieldDifference[] {
  const [old, fresh] = [before, after].map((text) =>
    leavesOf(JSON.parse(text ?? "{}"), "", new Map<string, unknown>()),
  );
  const paths = new Set([...(old?.keys() ?? []), ...(fresh?.keys() ?? [])]);
  const differences: FieldDifference[] = [];
  for (const path of paths) {
    const [was, is] = [old?.get(path), fresh?.get(path)];
    if (path !== "" && !isDeepStrictEqual(was, is)) differences.push({ path, before: was, after: is });
  }
  return differences;
}
