/** Rows under the names of the program: one rule, by which the column `stop_nbr` is `stopNbr`, serves all tables. */
import type { Selectable } from "kysely";
import type { Argument } from "./prepared-query.ts";
import type { Tables } from "./schema.ts";

type NameOf<Column extends string> = Column extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<NameOf<Tail>>}`
  : Column;

/** The row with its columns under the names of the program. */
export type Named<Row> = { readonly [Column in keyof Row & string as NameOf<Column>]: Row[Column] };

/** A whole row of the table, under the names of the program. */
export type RowOf<Table extends keyof Tables> = Named<Selectable<Tables[Table]>>;

const names = new Map<string, string>();

function nameOf(column: string): string {
  const known = names.get(column);
  if (known !== undefined) return known;
  const name = column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  names.set(column, name);
  return name;
}

/** The same row under the names of the program. */
export function named<Row extends object>(row: Row): Named<Row> {
  const renamed: Record<string, unknown> = {};
  // No lists of entries in between: a start maps the rows of all waiting files.
  for (const column in row) renamed[nameOf(column)] = row[column];
  return renamed as Named<Row>;
}

type Selected<Column extends string> = Column extends `${string}.${infer Bare}`
  ? `${Column} as ${NameOf<Bare>}`
  : `${Column} as ${NameOf<Column>}`;

/** Columns with the arguments of the same names: `stop_nbr` with `stopNbr`. */
export function namedArguments<Args, Column extends string>(
  arg: Argument<Args>,
  ...columns: Column[]
): { [Of in Column]: NameOf<Of> extends keyof Args ? Args[NameOf<Of>] : unknown } {
  const values = columns.map((column) => [column, arg(nameOf(column) as keyof Args & string)] as const);
  return Object.fromEntries(values) as ReturnType<typeof namedArguments<Args, Column>>;
}

/** The columns for a `select` whose rows have the names of the program. */
export function namedColumns<Column extends string>(...columns: Column[]): Selected<Column>[] {
  return columns.map((column) => `${column} as ${nameOf(column.replace(/^.*\./, ""))}` as Selected<Column>);
}
