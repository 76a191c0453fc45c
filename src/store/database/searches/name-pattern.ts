/** Names as people give them to lists: `*` stands for any characters and `?` for one. */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { likeAnyCase } from "../dialects/sql-forms.ts";
import type { Reader } from "../database.ts";

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
export function beginsWith(named: RawBuilder<unknown>, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${named} >= ${text} and ${named} < ${text + afterAnyName}`;
}

/** So many of a beginning are sorted for the newest of them. */
const mostOfBeginning = 500;

export interface Beginning {
  readonly companyIds: readonly number[];
  /** Any of these spellings. */
  readonly beginnings: readonly string[];
  readonly limit: number;
}

/** The greatest ids of rows whose names begin so; `isCut` when there are more. Of very many, some are not looked at. */
export async function findNewestByName(
  read: Reader,
  table: "files" | "deliveries",
  { companyIds, beginnings, limit }: Beginning,
): Promise<{ readonly ids: readonly number[]; readonly isCut: boolean }> {
  const ids = new Set<number>();
  for (const beginning of beginnings) {
    const { rows } = await sql<{ id: number }>`
      select id from ${sql.table(table)}
      where company_id in (${sql.join([...companyIds])}) and ${beginsWith(sql.ref("name"), beginning)}
      limit ${mostOfBeginning}`.execute(read);
    for (const { id } of rows) ids.add(id);
  }
  return { ids: newestOf([...ids], limit), isCut: ids.size > limit };
}

/** So many of the greatest ids, the greatest first. */
export function newestOf(ids: readonly number[], limit: number): readonly number[] {
  return ids.toSorted((one, other) => other - one).slice(0, limit);
}

/** Whether the column is the name, or of its pattern; a pattern without regard to the case of ASCII letters. */
export function isOfName(column: string, name: string): RawBuilder<SqlBool> {
  const ref = sql.ref(column);
  if (!wildcards.test(name)) return sql<SqlBool>`${ref} = ${name}`;
  const pattern = likePattern(name).replaceAll("*", "%").replaceAll("?", "_");
  const matches = sql<SqlBool>`${ref} ${likeAnyCase} ${pattern} escape '\\'`;
  const prefix = surePrefixOf(name);
  if (prefix === "") return matches;
  return sql<SqlBool>`${ref} >= ${prefix} and ${ref} < ${prefix + afterAnyName} and ${matches}`;
}
