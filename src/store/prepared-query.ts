/**
 * Queries of the hot path, built once: Kysely costs 20 to 30 µs to build a statement that then runs in 5.
 */
import type { Compilable, CompiledQuery, DatabaseConnection, DialectAdapter, Kysely } from "kysely";
import type { Tables } from "./schema.ts";

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Hands out a typed stand-in for the value of an argument while the query is built. */
export type Argument<Args> = <Name extends keyof Args & string>(name: Name) => Args[Name];

export interface PreparedQuery<Args, Row> {
  run(db: Kysely<Tables>, args: Args): Promise<{ rows: Row[]; affected: number }>;
}

type AnyCompiled = CompiledQuery<unknown>;

interface Prepared<Args> {
  readonly query: AnyCompiled;
  readonly names: readonly (keyof Args | undefined)[];
}

const connections = new WeakMap<Kysely<Tables>, DatabaseConnection>();

/** Finds the connection of a transaction, or of a reader with one only, once for all queries that it runs. */
export async function connectionOf(tx: Kysely<Tables>): Promise<DatabaseConnection> {
  const known = connections.get(tx);
  if (known !== undefined) return known;
  const connection = await tx.getExecutor().provideConnection(async (own) => own);
  connections.set(tx, connection);
  return connection;
}

/**
 * Prepares a query. `build` is called once for each database, at the first run, with a function that stands in for each argument; the
 * arguments may only be used as values.
 */
export function prepareQuery<Args extends object, Row = unknown>(
  build: (db: Kysely<Tables>, arg: Argument<Args>) => Compilable<Row>,
): PreparedQuery<Args, Row> {
  /** One a database: another dialect has other words for the same query. */
  const byAdapter = new WeakMap<DialectAdapter, Prepared<Args>>();
  const prepare = (db: Kysely<Tables>): Prepared<Args> => {
    const query = build(db, (name) => new Placeholder(name) as never).compile() as AnyCompiled;
    const names = query.parameters.map((value) =>
      value instanceof Placeholder ? (value.name as keyof Args) : undefined,
    );
    const prepared = { query, names };
    byAdapter.set(db.getExecutor().adapter, prepared);
    return prepared;
  };
  return {
    async run(db, args) {
      const executor = db.getExecutor();
      const { query, names } = byAdapter.get(executor.adapter) ?? prepare(db);
      const parameters = names.map((name, index) =>
        name === undefined ? query.parameters[index] : args[name],
      );
      const compiled = { ...query, parameters };
      // Straight to the connection: without plugins the way through the executor only adds waits.
      const own = connections.get(db);
      const result =
        own === undefined
          ? await executor.provideConnection((connection) => connection.executeQuery<Row>(compiled))
          : await own.executeQuery<Row>(compiled);
      return { rows: result.rows, affected: Number(result.numAffectedRows ?? 0n) };
    },
  };
}
