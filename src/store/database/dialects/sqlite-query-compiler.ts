import { type BinaryOperationNode, SqliteQueryCompiler } from "kysely";
import { Placeholder } from "../prepared-query.ts";
import { emptyListSql } from "./empty-lists.ts";
import { type DialectWords, isForm, writeForm } from "./sql-forms.ts";

const words: DialectWords = {
  // The sign changes no value, and hides the column from the planner.
  unindexed: "+",
  greater: "max",
  likeAnyCase: "like",
  givenIds: "sqlite_sequence",
  // A unit that is undone gives its ids back, so that each has an entry.
  madeEntries:
    "(select coalesce((select seq from sqlite_sequence where name = 'files'), 0) - ids as made, ids as gaps from ledger_gaps)",
  usedBytes:
    "(select (c.page_count - f.freelist_count) * s.page_size" +
    " from pragma_page_count as c, pragma_freelist_count as f, pragma_page_size as s)",
  // The driver knows it; with `returning` SQLite would prepare for an undo of the statement.
  returningId: "",
  numbers: ["json_each(", ")"],
  texts: ["json_each(", ")"],
};

/** Writes queries as SQLite reads them. */
export class QueryCompiler extends SqliteQueryCompiler {
  /**
   * The sign changes no value, and hides it from the planner: SQLite plans a statement for the values of its bare arguments
   * (the limit, what is compared with a column that a partial index is over), and so prepares it anew at each run.
   */
  protected override appendValue(parameter: unknown): void {
    if (isForm(parameter)) {
      const bind = (value: unknown) => super.appendValue(value);
      writeForm(parameter, words, { append: (text) => this.append(text), bind });
      return;
    }
    if (parameter instanceof Placeholder) this.append("+");
    super.appendValue(parameter);
  }

  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const empty = emptyListSql(node);
    if (empty === undefined) super.visitBinaryOperation(node);
    else this.append(empty);
  }
}
