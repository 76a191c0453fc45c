/** Names as people give them to lists: `*` stands for any characters and `?` for one. */
import { type RawBuilder, type SqlBool, sql } from "kysely";

/** For `like … escape '\\'`. */
export function likePattern(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}

const wildcards = /[*?]/;

/** What the name begins with, as far as it has neither wildcards nor letters, whose case does not count. */
function surePrefixOf(name: string): string {
  return /^[\d_.-]*/.exec(name)?.[0] ?? "";
}

/** Whether an index of names bounds the search. */
export function isServedByIndex(name: string): boolean {
  return !wildcards.test(name) || surePrefixOf(name) !== "";
}

/** After everything that begins with the digits and signs of a prefix. */
const afterAnyName = "\u{10ffff}";

/** Whether the column begins with the text; letters as they are, so that an index of the column serves. */
export function beginsWith(column: string, text: string): RawBuilder<SqlBool> {
  const named = sql.raw(column);
  return sql<SqlBool>`${named} >= ${text} and ${named} < ${text + afterAnyName}`;
}

/** Whether the column is the name, or of its pattern; a pattern without regard to the case of ASCII letters. */
export function isOfName(column: string, name: string): RawBuilder<SqlBool> {
  const ref = sql.ref(column);
  if (!wildcards.test(name)) return sql<SqlBool>`${ref} = ${name}`;
  const pattern = likePattern(name).replaceAll("*", "%").replaceAll("?", "_");
  const matches = sql<SqlBool>`${ref} like ${pattern} escape '\\'`;
  const prefix = surePrefixOf(name);
  if (prefix === "") return matches;
  return sql<SqlBool>`${ref} >= ${prefix} and ${ref} < ${prefix + afterAnyName} and ${matches}`;
}
