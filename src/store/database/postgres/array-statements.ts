/**
 * One statement in place of many runs of another: the values of each parameter go as an array, and the rows that come back
 * say of which run they are. The answers are those that the runs would have given one after the other, as long as no run
 * sees or changes a row that another changes.
 *
 *   select …                               select o.*, run from unnest(arrays) cross join lateral (select …) o
 *   insert into t values (…) …             insert into t select … from unnest(arrays) order by run …
 *   … on conflict (key) do nothing         … returning key: by its key a run finds its row, or that there is none
 *   insert into t select … on conflict …   insert into t select …, sum(added) from (…) group by key on conflict …
 *   update t set … where …                 update t set … from unnest(arrays) where … returning run
 */
import type { PreparedStatement } from "../prepared-query.ts";

/** The column of an answer with the number of its run, from 1. */
export const runColumn = "run of array";

/** The column of an answer with one of the values that make its key. */
export const keyColumn = (place: number) => `key ${place} of array`;

export interface ArrayStatement extends ArrayForm {
  /** Of the parameters, in their order. */
  readonly types: readonly string[];
}

interface ArrayForm {
  readonly text: string;
  /** How the rows that come back belong to runs: by their number, in the order of the runs, by a key, or not at all. */
  readonly rowsBy: "run" | "order" | "key" | "none";
  /** The places, among the parameters, of the values that make the key of a row. */
  readonly key: readonly number[];
}

function withColumns(sql: string): string {
  return sql.replaceAll(/\$(\d+)/g, "runs.p$1");
}

/** The arrays as a table. */
function runsOf(types: readonly string[]): string {
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`);
  const columns = types.map((_, index) => `p${index + 1}`);
  return `unnest(${arrays.join(", ")}) with ordinality as runs(${[...columns, "run"].join(", ")})`;
}

/** Where the words stand outside of all brackets and after that place; -1 when they do not. */
function outside(sql: string, words: string, from = 0): number {
  let depth = 0;
  for (let at = from; at < sql.length; at += 1) {
    if (depth === 0 && sql.startsWith(words, at)) return at;
    if (sql[at] === "(") depth += 1;
    if (sql[at] === ")") depth -= 1;
  }
  return -1;
}

/** What stands in the first brackets after that place, and where they end. */
function bracketed(sql: string, from: number): { readonly content: string; readonly end: number } {
  const opened = sql.indexOf("(", from);
  const closed = outside(sql, ")", opened + 1);
  return { content: sql.slice(opened + 1, closed), end: closed + 1 };
}

/** The parts of a list, which have commas in brackets alone. */
function partsOf(list: string): readonly string[] {
  const parts: string[] = [];
  for (let from = 0; from <= list.length; ) {
    const comma = outside(list, ",", from);
    const end = comma < 0 ? list.length : comma;
    parts.push(list.slice(from, end).trim());
    from = end + 1;
  }
  return parts;
}

const run = `runs.run as "${runColumn}"`;

/** `offset 0` keeps the query as it is: it is planned as the one that runs alone, and gives its rows in its order. */
function arrayOfSelect(sql: string, runs: string): ArrayForm {
  const text = `select one.*, ${run} from ${runs} cross join lateral (${withColumns(sql)} offset 0) as one`;
  return { text, rowsBy: "run", key: [] };
}

const conflict = " on conflict (";
const nothing = " do nothing";

/** Undefined when an answer would not say which rows were there already. */
function arrayOfInsert(sql: string, runs: string): ArrayForm | undefined {
  const columns = bracketed(sql, 0);
  const row = bracketed(sql, columns.end);
  const [head, rest] = [sql.slice(0, columns.end), sql.slice(row.end)];
  const text = `${head} select ${withColumns(row.content)} from ${runs} order by runs.run${rest}`;
  // A value of a run cannot stand there.
  if (rest.includes("$")) return undefined;
  if (!rest.includes(nothing))
    return { text, rowsBy: rest.includes(" returning ") ? "order" : "none", key: [] };
  if (!rest.startsWith(conflict)) return undefined;
  const [names, values] = [partsOf(columns.content), partsOf(row.content)];
  const keyNames = partsOf(bracketed(rest, 0).content);
  const key = keyNames.map((name) => Number(/^\$(\d+)$/.exec(values[names.indexOf(name)] ?? "")?.[1]) - 1);
  if (key.some(Number.isNaN)) return undefined;
  const told = keyNames.map((name, place) => `${name} as "${keyColumn(place)}"`).join(", ");
  const returning = rest.includes(" returning ") ? "," : " returning";
  return { text: `${text}${returning} ${told}`, rowsBy: "key", key };
}

/** Runs that meet at one row are added up before. */
function arrayOfSum(sql: string, runs: string, adds: string): ArrayForm {
  const columns = bracketed(sql, 0);
  const until = outside(sql, conflict);
  const query = sql.slice(columns.end, until).trim();
  const shown = partsOf(columns.content).map((name) => (name === `"${adds}"` ? `sum(${name})` : name));
  const key = partsOf(columns.content).filter((name) => name !== `"${adds}"`);
  const all = `select one.* from ${runs} cross join lateral (${withColumns(query)} offset 0) as one`;
  const text =
    `${sql.slice(0, columns.end)} select ${shown.join(", ")} from (${all}) as added(${columns.content}) ` +
    `group by ${key.join(", ")}${sql.slice(until)}`;
  return { text, rowsBy: "none", key: [] };
}

function arrayOfUpdate(sql: string, runs: string): ArrayForm {
  const where = outside(sql, " where ");
  const [set, condition] = [sql.slice(0, where), sql.slice(where)];
  const text = `${withColumns(set)} from ${runs}${withColumns(condition)} returning ${run}`;
  return { text, rowsBy: "run", key: [] };
}

/** Whether runs of the statement could become one, as far as can be told without the types of its parameters. */
export function canBeArray({ source, changesOwnRows, adds }: PreparedStatement): boolean {
  if (!source.includes("$1")) return false;
  if (source.startsWith("select "))
    return !/ for (no key )?update/.test(source) && outside(source, " offset ") < 0;
  if (source.startsWith("insert into ")) return changesOwnRows === true || adds !== undefined;
  const isUpdate = source.startsWith("update ") && outside(source, " where ") > 0;
  return isUpdate && changesOwnRows === true && !source.includes(" returning ");
}

/** The statement for arrays of these types, of its parameters in their order; undefined when there is none. */
export function arrayStatementOf(
  statement: PreparedStatement,
  types: readonly string[],
): ArrayStatement | undefined {
  const { source, adds } = statement;
  if (types.length === 0 || !canBeArray(statement)) return undefined;
  const form = arrayFormOf(source, runsOf(types), adds);
  return form && { ...form, types };
}

function arrayFormOf(source: string, runs: string, adds: string | undefined): ArrayForm | undefined {
  if (source.startsWith("select ")) return arrayOfSelect(source, runs);
  if (source.startsWith("update ")) return arrayOfUpdate(source, runs);
  return adds === undefined ? arrayOfInsert(source, runs) : arrayOfSum(source, runs, adds);
}
