/** JSON objects whose form is not known yet. */
export type Fields = Record<string, unknown>;

/** Whether a value is a JSON object: no list, not null. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields of a value; none of what is no object. */
export function fieldsOf(value: unknown): Readonly<Fields> {
  return isFields(value) ? value : {};
}

/** The entries of a value; none of what is no list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Changes one text of an object in place; what is no text, or what `change` cannot read, stays as it is. */
export function rewrite(fields: Fields, name: string, change: (text: string) => string | undefined): void {
  const value = fields[name];
  if (typeof value === "string") fields[name] = change(value) ?? value;
}
