/**
 * What the databases write differently. A query holds one of these in its place, and the compiler of the dialect writes its
 * own words there: no query asks which database it is for.
 */
import { type RawBuilder, sql } from "kysely";

/** The words of a dialect. */
export interface DialectWords {
  /** Before a column or condition that is at hand, and that no index is to be looked through for. */
  readonly unindexed: string;
  /** The function of two values that gives the greater one. */
  readonly greater: string;
  /** The operator `like` without regard to the case of ASCII letters. */
  readonly likeAnyCase: string;
  /** A relation with a row for each table that numbers its rows: its `name`, and the last id that it gave as `seq`. */
  readonly givenIds: string;
  /**
   * A relation with one row: how many entries of the ledger were ever `made`, and `gaps`, how many numbers had none for a
   * reason that nobody knows. Where the counting of either was lost, they are null, or there is no row.
   */
  readonly madeEntries: string;
  /** The bytes of the database that are in use. */
  readonly usedBytes: string;
  /** At the end of an insert of which `insertedId` is used. */
  readonly returningId: string;
  /** Around a parameter that is a list, as JSON, of integers or texts: a relation with the column `value`, to be named. */
  readonly numbers: readonly [before: string, after: string];
  readonly texts: readonly [before: string, after: string];
}

type WordName = {
  [Name in keyof DialectWords]: DialectWords[Name] extends string ? Name : never;
}[keyof DialectWords];

/** Stands in a query for a word of its dialect. */
class Word {
  readonly name: WordName;

  constructor(name: WordName) {
    this.name = name;
  }
}

/** Stands in a query for a list of values. */
class ValueList {
  readonly kind: "numbers" | "texts";
  readonly json: string;

  constructor(kind: "numbers" | "texts", values: readonly unknown[]) {
    this.kind = kind;
    this.json = JSON.stringify(values);
  }
}

const word = (name: WordName): RawBuilder<unknown> => sql`${new Word(name)}`;

export const unindexed = word("unindexed");
export const greater = word("greater");
export const likeAnyCase = word("likeAnyCase");
export const givenIds = word("givenIds");
export const madeEntries = word("madeEntries");
export const usedBytes = word("usedBytes");
export const returningId = word("returningId");

/** A relation with these integers in its column `value`; `from ${numbersIn(ids)} as n` names it. */
export function numbersIn(numbers: readonly number[]): RawBuilder<unknown> {
  return sql`${new ValueList("numbers", numbers)}`;
}

/** The same with texts. */
export function textsIn(texts: readonly string[]): RawBuilder<unknown> {
  return sql`${new ValueList("texts", texts)}`;
}

/** How a compiler writes. */
export interface Pen {
  append(text: string): void;
  /** A parameter with this value. */
  bind(value: unknown): void;
}

type Form = Word | ValueList;

/** Whether the value stands for a word or a list; any other one is a parameter. */
export function isForm(value: unknown): value is Form {
  return value instanceof Word || value instanceof ValueList;
}

/** Writes the word or the list in the way of the dialect. */
export function writeForm(form: Form, words: DialectWords, pen: Pen): void {
  if (form instanceof Word) {
    pen.append(words[form.name]);
    return;
  }
  const [before, after] = words[form.kind];
  pen.append(before);
  pen.bind(form.json);
  pen.append(after);
}
