import { type BinaryOperationNode, PostgresQueryCompiler } from "kysely";
import { emptyListSql } from "../dialects/empty-lists.ts";
import { type DialectWords, isForm, writeForm } from "../dialects/sql-forms.ts";

const words: DialectWords = {
  // Its planner knows how the values are distributed.
  unindexed: "",
  greater: "greatest",
  likeAnyCase: "ilike",
  // A view of the schema.
  givenIds: "given_ids",
  // Counted where they are made: a sequence has gaps.
  madeEntries: "(select coalesce(sum(entries), 0) as made, 0 as gaps from entered_files)",
  usedBytes: "pg_database_size(current_database())",
  returningId: " returning id",
  numbers: ["(select cast(json_array_elements_text(cast(", " as json)) as bigint) as value)"],
  texts: ["(select json_array_elements_text(cast(", " as json)) as value)"],
};

/** Writes queries as PostgreSQL reads them. */
export class QueryCompiler extends PostgresQueryCompiler {
  protected override appendValue(parameter: unknown): void {
    if (isForm(parameter)) {
      const bind = (value: unknown) => super.appendValue(value);
      writeForm(parameter, words, { append: (text) => this.append(text), bind });
      return;
    }
    super.appendValue(parameter);
  }

  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const empty = emptyListSql(node);
    if (empty === undefined) super.visitBinaryOperation(node);
    else this.append(empty);
  }
}
