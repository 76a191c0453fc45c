/** What differs between two versions of a stop, field by field. */
export interface FieldDifference {
  /** Path in the canonical stop, such as `to.address.zip`. */
  readonly path: string;
  /** JSON text, undefined where the field is not. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const maxShown = 80;

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown - 1)}…` : text;
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
    const [was, is] = [old, fresh].map((leaves) => (leaves?.has(path) ? shown(leaves.get(path)) : undefined));
    if (path !== "" && was !== is) differences.push({ path, before: was, after: is });
  }
  return differences;
}
