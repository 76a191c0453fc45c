/**
 * One session with PostgreSQL: connected when it is first used, and anew after it broke. What is in a transaction is never
 * continued in another session: the server has undone it, and each of its statements fails until the rollback.
 *
 *   closed ─use─> connected ─begin─> in a transaction ─commit, rollback─> connected
 *      ^              └──────broken───────┴─> closed, once the transaction was rolled back
 */
import pg from "pg";
import { StoreError } from "../../../lib/store-error.ts";
import { isStalePlan, toStoreError } from "./postgres-faults.ts";
import { checkValues, typeParsers } from "./postgres-values.ts";

export interface SessionOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Refuses to write. */
  readonly isReader: boolean;
  /** Waits for each answer, however long it takes. */
  readonly isPatient?: true | undefined;
}

export interface SessionQuery {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Under which the server keeps the statement prepared; without one it is planned anew. */
  readonly name?: string | undefined;
}

export type SessionResult = pg.QueryResult<Record<string, unknown>>;

const connectTimeoutMs = 10_000;
/** Longer than any statement of ours takes: a server that cannot be reached any more never answers. */
const answerTimeoutMs = 60_000;
/**
 * Below the lease of a company: a process that stops within a transaction must not keep the locks of its rows beyond it. A
 * unit of work waits for nothing but the database.
 */
const idleInTransactionMs = 8_000;

function clientOf({ url, isReader, isPatient }: SessionOptions): pg.Client {
  return new pg.Client({
    connectionString: url,
    application_name: "dropgate",
    connectionTimeoutMillis: connectTimeoutMs,
    ...(isPatient ? {} : { query_timeout: answerTimeoutMs }),
    idle_in_transaction_session_timeout: idleInTransactionMs,
    keepAlive: true,
    types: typeParsers,
    ...(isReader ? { options: "-c default_transaction_read_only=on" } : {}),
  });
}

export class PostgresSession {
  readonly #options: SessionOptions;
  #client: Promise<pg.Client> | undefined;
  /** The one that `#client` has become. */
  #current: pg.Client | undefined;
  /** The client of the transaction. */
  #inTransaction: pg.Client | undefined;
  #isClosed = false;
  #pending = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Statements that were given and are not answered yet. */
  get pending(): number {
    return this.#pending;
  }

  /** Rejects with a `StoreError`. */
  async query({ text, values, name }: SessionQuery): Promise<SessionResult> {
    this.#pending += 1;
    try {
      checkValues(values);
      const named = name === undefined ? {} : { name };
      return await this.#answer({ ...named, text, values: [...values] });
    } catch (error) {
      throw toStoreError(error);
    } finally {
      this.#pending -= 1;
    }
  }

  async begin(): Promise<void> {
    await this.query({ text: "begin", values: [] });
    this.#inTransaction = this.#current;
  }

  /** When it rejects without an answer of the server, nobody knows whether it was committed. */
  async commit(): Promise<void> {
    const { command } = await this.query({ text: "commit", values: [] });
    // The server says so in place of an error when a statement has failed and nobody has undone it.
    if (command === "ROLLBACK")
      throw new StoreError(
        "refused",
        "PostgreSQL: a failed statement was ignored, nothing was committed",
        undefined,
      );
    this.#inTransaction = undefined;
  }

  /** A session that is broken was rolled back by the server. */
  async rollback(): Promise<void> {
    const client = this.#inTransaction;
    if (client === undefined) return;
    try {
      await this.query({ text: "rollback", values: [] });
    } catch {
      // The caller throws what has failed before.
      this.#forget(client);
    } finally {
      this.#inTransaction = undefined;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = this.#client;
    this.#client = undefined;
    // One that never came to be needs no end.
    await (await client?.catch(() => undefined))?.end();
  }

  /** Outside of a transaction, what was planned for tables of before is asked again in a new session. */
  async #answer(query: pg.QueryConfig): Promise<SessionResult> {
    if (this.#inTransaction !== undefined) return await this.#ask(this.#inTransaction, query);
    try {
      return await this.#ask(await this.#connected(), query);
    } catch (error) {
      if (!isStalePlan(error)) throw error;
      return await this.#ask(await this.#connected(), query);
    }
  }

  async #ask(client: pg.Client, query: pg.QueryConfig): Promise<SessionResult> {
    try {
      return await client.query(query);
    } catch (error) {
      // Not of the server: no answer came, or one that cannot be read. With a stale plan no later one would do better.
      if (!(error instanceof pg.DatabaseError) || isStalePlan(error)) this.#forget(client);
      throw error;
    }
  }

  #connected(): Promise<pg.Client> {
    if (this.#isClosed) return Promise.reject(new Error("the store is closed"));
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<pg.Client> {
    const client = clientOf(this.#options);
    const forget = () => this.#forget(client);
    // Each statement that was under way rejects by itself.
    client.on("error", forget);
    client.on("end", forget);
    try {
      await client.connect();
      this.#current = client;
      return client;
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }

  /** The next use connects anew, and the server undoes what it has of this session. */
  #forget(client: pg.Client): void {
    if (this.#current !== client) return;
    this.#current = undefined;
    this.#client = undefined;
    // It may be broken already.
    void client.end().catch(() => undefined);
  }
}
