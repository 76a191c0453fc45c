/** What differs between before and after, value by value: JSON that nobody has to read as such. */

export interface Difference {
  /** Names from the outside in, with dots. */
  readonly path: string;
  /** Undefined where it was not, or is no more. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one === "string" || typeof one === "number"))
    return value.join(", ");
  return JSON.stringify(value);
}

/** Values by their paths; a value that is no object has the path of where it stands. */
function valuesOf(value: unknown, path: string, values = new Map<string, string>()): Map<string, string> {
  if (value === undefined || value === null) return values;
  if (!isObject(value)) return values.set(path, textOf(value));
  for (const [name, part] of Object.entries(value))
    valuesOf(part, path === "" ? name : `${path}.${name}`, values);
  return values;
}

/** In the order in which they stand; what is the same is left out. */
export function differenceOf(before: unknown, after: unknown): readonly Difference[] {
  const [was, is] = [valuesOf(before, ""), valuesOf(after, "")];
  const paths = [...new Set([...was.keys(), ...is.keys()])];
  return paths
    .map((path) => ({ path, before: was.get(path), after: is.get(path) }))
    .filter((difference) => difference.before !== difference.after);
}
