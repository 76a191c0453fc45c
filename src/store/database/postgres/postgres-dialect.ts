/** Everything that Kysely and prepared queries need of PostgreSQL. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import type { LaneState, LockedLanes } from "../fence.ts";
import type { Owner } from "../owner.ts";
import type { QueryRun, QueryTraits, StatementConnection } from "../prepared-query.ts";
import { lanesOf, lanesThatLack, lockedLanesOf, lockOf, lockOfFree } from "./lock-owners.ts";
import { QueryCompiler } from "./postgres-query-compiler.ts";
import type { PostgresSession, SessionQuery } from "./postgres-session.ts";
import { type NamedStatement, type SessionAnswer, StatementRounds } from "./statement-rounds.ts";

/** Called with every error of a statement, translated. */
type OnStoreFault = (error: unknown) => void;

/** At least one. */
export type Sessions = readonly [PostgresSession, ...PostgresSession[]];

/** So many statements that were not prepared by name are kept by the sessions: each takes memory of the server. */
const mostKept = 500;

const noLane: LaneState = { epoch: 0, arrivals: [], areMore: false };

/** What a statement has changed; a query has changed nothing. */
function affectedBy({ command, rowCount }: SessionAnswer): number {
  return command === "SELECT" ? 0 : (rowCount ?? 0);
}

/**
 * One or several sessions as one connection: of several, each statement goes to the one that has the least to do, so that they
 * are for reading alone.
 */
export class PostgresConnection implements StatementConnection<NamedStatement> {
  readonly answersAtOnce = false;
  readonly undoesUnitsAlone = false;
  readonly #sessions: Sessions;
  readonly #onFault: OnStoreFault;
  /** The names of statements that have run more than once; undefined of those that have run once. */
  readonly #names = new Map<string, string | undefined>();
  readonly #inTransaction: StatementRounds;
  /** Outside of a transaction. */
  readonly #beside: StatementRounds;
  #prepared = 0;

  constructor(sessions: Sessions, onFault: OnStoreFault) {
    this.#sessions = sessions;
    this.#onFault = onFault;
    const pick = () => {
      const session = this.#least();
      return (query: SessionQuery) => session.query(query);
    };
    this.#inTransaction = new StatementRounds({ pick, isTransaction: true });
    this.#beside = new StatementRounds({ pick, isTransaction: false });
  }

  /** Changes whenever statements are sent outside of a transaction. */
  get version(): number {
    return this.#beside.sent;
  }

  giveTurnsEvery(): void {
    // Each answer of a server comes in a turn of its own.
  }

  async lockFor(owners: readonly Owner[], mustHave?: readonly Owner[]): Promise<LockedLanes> {
    const wanted = lanesOf(owners);
    const waited = mustHave === undefined ? undefined : lanesOf(mustHave);
    // Of one company there is nothing to leave.
    if (wanted === undefined || wanted.length === 1 || mustHave === undefined || waited === undefined)
      return await this.#lockAll(owners);
    const others = wanted.filter((id) => !waited.includes(id));
    const [first, rest] = await Promise.all([
      waited.length === 0 ? new Map<number, LaneState>() : this.#lockAll(mustHave),
      others.length === 0 ? [] : this.#rowsOf(lockOfFree(others)),
    ]);
    const locked = new Map([...first, ...this.#locked(rest)]);
    // All of them are another's: it waits for the first.
    return locked.size > 0 ? locked : await this.#lockAll(owners.slice(0, 1));
  }

  async #lockAll(owners: readonly Owner[]): Promise<ReadonlyMap<number, LaneState>> {
    const wanted = lanesOf(owners);
    const lock = lockOf(wanted);
    const rows = await this.#rowsOf(lock);
    if (wanted === undefined || rows.length === wanted.length) return this.#locked(rows);
    await this.#ask(lanesThatLack);
    const all = await this.#ask(lock);
    // A company that there is not has none to lock, and nobody else writes for it.
    const none = wanted.map((id) => [id, noLane] as const);
    return new Map([...none, ...this.#locked(all.rows as typeof rows)]);
  }

  /** It goes with the begin. */
  async #rowsOf(lock: SessionQuery): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { rows } = await this.#noted(this.session.askWithBegin(lock));
    return rows;
  }

  #locked(rows: readonly Readonly<Record<string, unknown>>[]): ReadonlyMap<number, LaneState> {
    const [first] = rows;
    if (first !== undefined) this.session.noteTransaction(String(first["transaction"]));
    return lockedLanesOf(rows);
  }

  /** That of its transactions. */
  get session(): PostgresSession {
    return this.#sessions[0];
  }

  prepare(source: string, traits: QueryTraits = {}): NamedStatement {
    this.#prepared += 1;
    return { ...traits, source, name: `prepared_${this.#prepared}` };
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const result = await this.#ask({ text: sql, values: parameters, name: this.#nameOf(sql) });
    const rows = result.rows as R[];
    if (result.command === "SELECT") return { rows };
    return { rows, numAffectedRows: BigInt(affectedBy(result)) };
  }

  async runPrepared<R>(statement: NamedStatement, parameters: readonly unknown[]): Promise<QueryRun<R>> {
    const result = await this.#run(statement, parameters);
    const [row] = result.rows as readonly { readonly id?: unknown }[];
    const insertedId = Number(row?.id ?? 0);
    return { rows: result.rows as R[], affected: affectedBy(result), insertedId };
  }

  async firstPrepared<R, Value>(
    statement: NamedStatement,
    parameters: readonly unknown[],
    read: (row: R) => Value,
  ): Promise<Value | undefined> {
    const { rows } = await this.#run(statement, parameters);
    const row = rows[0] as R | undefined;
    return row === undefined ? undefined : read(row);
  }

  // biome-ignore lint/correctness/useYield: dropgate reads large tables in batches, never as a stream
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("no query is streamed: read in batches");
  }

  #least(): PostgresSession {
    return this.#sessions.reduce((least, one) => (one.pending < least.pending ? one : least));
  }

  #run(statement: NamedStatement, values: readonly unknown[]): Promise<SessionAnswer> {
    const { source: text, name } = statement;
    return this.#ask({ text, values, name }, statement);
  }

  #ask(query: SessionQuery, statement?: NamedStatement): Promise<SessionAnswer> {
    const rounds = this.session.isInTransaction ? this.#inTransaction : this.#beside;
    return this.#noted(rounds.ask(query, statement));
  }

  async #noted<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      this.#onFault(error);
      throw error;
    }
  }

  /** A statement is named when it runs for the second time: lists of all lengths make as many texts. */
  #nameOf(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined) return known;
    if (!this.#names.has(sql)) {
      if (this.#names.size < mostKept) this.#names.set(sql, undefined);
      return undefined;
    }
    const { name } = this.prepare(sql);
    this.#names.set(sql, name);
    return name;
  }
}

class PostgresDriver implements Driver {
  readonly #connection: PostgresConnection;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  async init(): Promise<void> {
    // The sessions connect when they are used; their owner closes them.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(_: DatabaseConnection, { isolationLevel }: TransactionSettings): Promise<void> {
    await this.#connection.session.begin(isolationLevel);
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.session.commit();
  }

  async rollbackTransaction(): Promise<void> {
    await this.#connection.session.rollback();
  }

  async releaseConnection(): Promise<void> {
    // Writers are put in line by the group commit, readers by the sessions.
  }

  async destroy(): Promise<void> {
    // See `init`.
  }
}

/** A Kysely dialect over a connection of one session, or over one of several that only reads. */
export function postgresDialect(connection: PostgresConnection): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(connection),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new QueryCompiler(),
  };
}
