/**
 * Statements in rounds: what is asked in one turn of the event loop is sent together, and runs of the same statement are one
 * statement (`array-statements.ts`). In a transaction, what is asked while a round is under way goes with the next one, so
 * that units of work which do the same keep step, and each round is one round trip.
 *
 *   asked ──> waiting ──the round before is answered, and nobody asks for more in this turn──> sent ──> answered
 */
import type { PreparedStatement } from "../prepared-query.ts";
import {
  type ArrayStatement,
  arrayStatementOf,
  canBeArray,
  keyColumn,
  runColumn,
} from "./array-statements.ts";
import type { SessionQuery, SessionResult } from "./postgres-session.ts";
import { arrayParameter, checkValues } from "./postgres-values.ts";

/** A statement, and the name under which each session keeps it prepared. */
export interface NamedStatement extends PreparedStatement {
  readonly name: string;
}

interface Asked {
  readonly query: SessionQuery;
  /** Of one that may run with others of its kind. */
  readonly statement: NamedStatement | undefined;
  resolve(answer: SessionAnswer): void;
  reject(error: unknown): void;
}

/** As much of the answer of a session as anybody wants to know. */
export type SessionAnswer = Pick<SessionResult, "command" | "rowCount"> & { readonly rows: unknown[] };

/** Undefined: it is not known yet. Null: the runs stay what they are. */
type Known = ArrayStatement | null | undefined;

const typesQuery = "select parameter_types::text[] as types from pg_prepared_statements where name = $1";

interface TypesRow {
  readonly types: readonly string[];
}

type Row = Record<string, unknown>;

function answersByRun(count: number, { command, rows }: SessionResult): readonly SessionAnswer[] {
  const byRun: unknown[][] = Array.from({ length: count }, () => []);
  for (const row of rows) {
    const { [runColumn]: run, ...rest } = row;
    byRun[Number(run) - 1]?.push(rest);
  }
  return byRun.map((own) => ({
    ...{ command, rowCount: own.length },
    rows: command === "SELECT" ? own : [],
  }));
}

/** Of an insert: each run has inserted its row, unless there are keys and its key is not among them. */
function answersOfInsert(
  { rowsBy, key }: ArrayStatement,
  group: readonly Asked[],
  { command, rows }: SessionResult,
): readonly SessionAnswer[] {
  if (rowsBy === "none") return group.map(() => ({ command, rowCount: 1, rows: [] }));
  if (rowsBy === "order") {
    if (rows.length !== group.length)
      throw new Error("an insert of several rows gave another number of them");
    return rows.map((row) => ({ command, rowCount: 1, rows: [row] }));
  }
  const keyOfRow = (row: Row) => JSON.stringify(key.map((_, place) => String(row[keyColumn(place)])));
  const byKey = new Map(rows.map((row) => [keyOfRow(row), row]));
  return group.map(({ query: { values } }) => {
    const row = byKey.get(JSON.stringify(key.map((place) => String(values[place]))));
    return { command, rowCount: row === undefined ? 0 : 1, rows: row === undefined ? [] : [row] };
  });
}

/** The answer of each run. */
function answersOf(
  array: ArrayStatement,
  group: readonly Asked[],
  result: SessionResult,
): readonly SessionAnswer[] {
  if (array.rowsBy === "run") return answersByRun(group.length, result);
  return answersOfInsert(array, group, result);
}

/** Where a statement goes, and what comes back. */
export type Send = (query: SessionQuery) => Promise<SessionResult>;

interface Way {
  /** The session for the next statement. */
  readonly pick: () => Send;
  /** In a transaction: a round waits for the one before it, and a fault is one of all statements of it. */
  readonly isTransaction: boolean;
}

export class StatementRounds {
  readonly #way: Way;
  /** By the name of the statement. */
  readonly #arrays = new Map<string, Known>();
  #waiting: Asked[] = [];
  #isUnderWay = false;
  #sent = 0;

  constructor(way: Way) {
    this.#way = way;
  }

  /** How many rounds were sent: what is asked while it stays the same is answered by what the server has afterwards. */
  get sent(): number {
    return this.#sent;
  }

  async ask(query: SessionQuery, statement?: NamedStatement): Promise<SessionAnswer> {
    // One with a value that is refused must not take others with it.
    checkValues(query.values);
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ query, statement, resolve, reject });
      if (this.#isUnderWay) return;
      this.#isUnderWay = true;
      this.#next();
    });
  }

  /** After those that were answered have asked for more; outside of a transaction, after all requests that have come. */
  #next(): void {
    if (this.#way.isTransaction) process.nextTick(() => void this.#round());
    else setImmediate(() => void this.#round());
  }

  async #round(): Promise<void> {
    const asked = this.#waiting;
    this.#waiting = [];
    if (asked.length === 0) {
      this.#isUnderWay = false;
      return;
    }
    this.#sent += 1;
    const alike = Map.groupBy(asked, (one) => one.statement ?? one);
    const answered = Promise.all([...alike.values()].map((group) => this.#send(group)));
    if (this.#way.isTransaction) await answered;
    this.#next();
  }

  /** Resolves when all of them are answered. */
  async #send(group: readonly Asked[]): Promise<void> {
    const statement = group[0]?.statement;
    if (statement === undefined || group.length === 1) await this.#sendEach(group);
    else {
      const array = this.#arrayOf(statement);
      if (array === null) await this.#sendEach(group);
      else if (array === undefined) await this.#sendAndLearn(statement, group);
      else await this.#sendArray(statement, array, group);
    }
  }

  #arrayOf(statement: NamedStatement): Known {
    const known = this.#arrays.get(statement.name);
    if (known !== undefined) return known;
    return canBeArray(statement) ? undefined : null;
  }

  async #sendEach(group: readonly Asked[], send?: Send): Promise<void> {
    await Promise.all(
      group.map(({ query, resolve, reject }) => (send ?? this.#way.pick())(query).then(resolve, reject)),
    );
  }

  async #sendArray(statement: NamedStatement, array: ArrayStatement, group: readonly Asked[]): Promise<void> {
    try {
      const [first] = group;
      const columns = first?.query.values.map((_, at) => group.map(({ query }) => query.values[at])) ?? [];
      const values = columns.map((column, at) => arrayParameter(column, array.types[at]));
      const result = await this.#way.pick()({ text: array.text, values, name: `${statement.name}_array` });
      for (const [at, answer] of answersOf(array, group, result).entries()) group[at]?.resolve(answer);
    } catch (error) {
      // Outside of a transaction the fault may be that of one of them alone.
      if (!this.#way.isTransaction) await this.#sendEach(group);
      else for (const { reject } of group) reject(error);
    }
  }

  /** Asks the server, which has prepared it by then, of which types its parameters are. */
  async #sendAndLearn(statement: NamedStatement, group: readonly Asked[]): Promise<void> {
    const send = this.#way.pick();
    const sent = this.#sendEach(group, send);
    try {
      const { rows } = await send({ text: typesQuery, values: [statement.name] });
      const [row] = rows as unknown as readonly TypesRow[];
      if (row !== undefined) this.#arrays.set(statement.name, arrayStatementOf(statement, row.types) ?? null);
    } catch {
      // What has failed has failed for the statements before it too, which are told; the next ones ask again.
    }
    await sent;
  }
}
