/**
 * Queries of the hot path, built once: Kysely costs 20 to 30 µs to build a statement that then runs in 5.
 */
import { type Compilable, type DatabaseConnection, type Kysely, type RawBuilder, sql } from "kysely";
import type { LockedLanes } from "./fence.ts";
import type { Owner } from "./owner.ts";
import type { Tables } from "./schema.ts";

/** Stands for the value of an argument while a query is built. */
export class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Returns a typed placeholder for the value of an argument while the query is built. */
export type Argument<Args> = <Name extends keyof Args & string>(name: Name) => Args[Name];

/** For `on conflict do update set`: each of these columns with the value that the insert has for it. */
export function excluded<Row extends object>(row: Row): { [Column in keyof Row]: RawBuilder<never> } {
  const references = Object.keys(row).map((column) => [column, sql.ref(`excluded.${column}`)]);
  return Object.fromEntries(references) as { [Column in keyof Row]: RawBuilder<never> };
}

/** What a query can be run for. None of these throws: errors are rejections. None uses `this`. */
export interface PreparedQuery<Args, Row> {
  run(db: Kysely<Tables>, args: Args): Promise<QueryRun<Row>>;
  rows(db: Kysely<Tables>, args: Args): Promise<Row[]>;
  /** The first row; undefined when there is none. */
  find(db: Kysely<Tables>, args: Args): Promise<Row | undefined>;
  /** The result of `read` for the first row; undefined when there is none. `read` must not throw. */
  first<Value>(db: Kysely<Tables>, args: Args, read: (row: Row) => Value): Promise<Value | undefined>;
  /** Whether it has changed any row. */
  changes(db: Kysely<Tables>, args: Args): Promise<boolean>;
}

export interface QueryRun<Row> {
  rows: Row[];
  affected: number;
  /** The generated key of an inserted row; without meaning for other statements. */
  insertedId: number;
}

/** What is said of a query when it is prepared. */
export interface QueryTraits {
  /**
   * No two of its runs that go on at the same moment change the same row: a database server may take several runs as one
   * statement. Reading needs no such word.
   */
  readonly changesOwnRows?: true;
  /** An insert from a query that adds this column of its row to the row which is there already. */
  readonly adds?: string;
}

/** Only the connection knows the rest of a statement. */
export interface PreparedStatement extends QueryTraits {
  /** Its text. */
  readonly source: string;
}

/** A connection that keeps statements for repeated runs. */
export interface StatementConnection<Statement extends PreparedStatement = PreparedStatement>
  extends DatabaseConnection {
  /** Whether each statement is answered before the next one can be asked, so that nothing is gained by asking several. */
  readonly answersAtOnce: boolean;
  /** Whether savepoints cost so little that each unit of a group has its own, and is undone alone when it fails. */
  readonly undoesUnitsAlone: boolean;
  /**
   * From here on others get a turn of the event loop after so many statements, if the database answers synchronously. With
   * a database server there is nothing to do.
   */
  giveTurnsEvery(statements: number): void;
  /**
   * Resolves when no other transaction writes the rows of these owners, until the end of this one, with the lanes that it has
   * locked for that. The first statement of a transaction. With `mustHave` it waits for these alone: the others it has locked
   * only when they were free, but at least one of all.
   */
  lockFor(owners: readonly Owner[], mustHave?: readonly Owner[]): Promise<LockedLanes>;
  prepare(sql: string, traits?: QueryTraits): Statement;
  runPrepared<Row>(statement: Statement, parameters: readonly unknown[]): Promise<QueryRun<Row>>;
  firstPrepared<Row, Value>(
    statement: Statement,
    parameters: readonly unknown[],
    read: (row: Row) => Value,
  ): Promise<Value | undefined>;
}

interface Prepared<Args> {
  readonly statement: PreparedStatement;
  /** One for each placeholder of the statement: an argument, or a constant. */
  readonly values: readonly ({ readonly name: keyof Args } | { readonly value: unknown })[];
}

/** A statement with the values that it is run with. */
interface Bound {
  readonly connection: StatementConnection;
  readonly statement: PreparedStatement;
  readonly parameters: readonly unknown[];
}

const connections = new WeakMap<Kysely<Tables>, StatementConnection>();

function isStatementConnection(connection: DatabaseConnection): connection is StatementConnection {
  return "prepare" in connection;
}

/** Finds the connection of a transaction, or of a reader with one only, once for all queries that it runs. */
export async function connectionOf(tx: Kysely<Tables>): Promise<StatementConnection> {
  const known = connections.get(tx);
  if (known !== undefined) return known;
  const connection = await tx.getExecutor().provideConnection(async (own) => own);
  if (!isStatementConnection(connection)) throw new Error("the dialect keeps no statements");
  connections.set(tx, connection);
  return connection;
}

/**
 * Prepares a query. `build` runs once for each connection, at the first run, with a function that returns a placeholder
 * for each argument; the arguments may only be used as values.
 */
export function prepareQuery<Args extends object, Row = unknown>(
  build: (db: Kysely<Tables>, arg: Argument<Args>) => Compilable<Row>,
  traits: QueryTraits = {},
): PreparedQuery<Args, Row> {
  const known = new WeakMap<StatementConnection, Prepared<Args>>();
  const prepare = (db: Kysely<Tables>, connection: StatementConnection): Prepared<Args> => {
    const { sql, parameters } = build(db, (name) => new Placeholder(name) as never).compile();
    const values = parameters.map((value) =>
      value instanceof Placeholder ? { name: value.name as keyof Args } : { value },
    );
    const prepared = { statement: connection.prepare(sql, traits), values };
    known.set(connection, prepared);
    return prepared;
  };
  const bind = (db: Kysely<Tables>, connection: StatementConnection, args: Args): Bound => {
    const { statement, values } = known.get(connection) ?? prepare(db, connection);
    const parameters: unknown[] = [];
    for (const one of values) parameters.push("name" in one ? args[one.name] : one.value);
    return { connection, statement, parameters };
  };
  /**
   * Not an async function, and straight to the connection: a unit of work runs a dozen queries, and each further wait
   * costs as much as a small one.
   */
  function execute<Result>(
    db: Kysely<Tables>,
    args: Args,
    use: (bound: Bound) => Promise<Result>,
  ): Promise<Result> {
    const connection = connections.get(db);
    if (connection === undefined) return connectionOf(db).then((found) => use(bind(db, found, args)));
    try {
      return use(bind(db, connection, args));
    } catch (error) {
      // A query that cannot be prepared, because the disk cannot be read, fails like one that cannot be run.
      return Promise.reject(error);
    }
  }
  const runBound = ({ connection, statement, parameters }: Bound): Promise<QueryRun<Row>> =>
    connection.runPrepared<Row>(statement, parameters);
  const run = (db: Kysely<Tables>, args: Args) => execute(db, args, runBound);
  const first = <Value>(db: Kysely<Tables>, args: Args, read: (row: Row) => Value) =>
    execute(db, args, ({ connection, statement, parameters }) =>
      connection.firstPrepared(statement, parameters, read),
    );
  return {
    run,
    rows: async (db, args) => (await run(db, args)).rows,
    find: (db, args) => first(db, args, (row) => row),
    first,
    changes: async (db, args) => (await run(db, args)).affected > 0,
  };
}
