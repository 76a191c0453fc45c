/**
 * One session with PostgreSQL: connected when it is first used, and anew after it broke. What is in a transaction is never
 * continued in another session: the server has undone it, and each of its statements fails until the rollback.
 *
 *   closed ─use─> connected ─begin─> in a transaction ─commit, rollback─> connected
 *      ^              └──────broken───────┴─> closed, once the transaction was rolled back
 *
 * Statements of a transaction go to the server as they are given, without waiting for the answers of those before them: what
 * is asked at the same moment takes one round trip. When one fails, the server refuses those after it, and each of them is
 * told of the fault of the first. Only what does no harm without a transaction goes before the server has said that it has begun.
 *
 * A commit that was sent and not answered may be done or not. The server is asked in a new session what has become of the
 * transaction, by its number: what is committed must not be answered as failed, since it would be done again. The number alone
 * tells it on the same server only: a standby that has taken over gives numbers anew that it has not seen. So each
 * transaction of the writer of a node leaves a mark (`commit-marks.ts`), and is committed when the mark is there.
 */
import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";
import { StoreError } from "../../../lib/store-error.ts";
import { CommitMarks } from "./commit-marks.ts";
import { isOfAbortedTransaction, isStalePlan, toStoreError } from "./postgres-faults.ts";
import { checkValues } from "./postgres-values.ts";
import { type ServerAnswer, SessionConnection, type SessionOptions } from "./session-connection.ts";

export interface SessionQuery {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Under which the server keeps the statement prepared; without one it is planned anew. */
  readonly name?: string | undefined;
}

export type SessionResult = ServerAnswer;

/** How long the server is asked what has become of a transaction: longer than it needs for a restart, or to end the session. */
const outcomePatienceMs = 60_000;
const outcomePauseMs = 100;

/** The server has answered, and the values are at fault. */
function isRefused(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "refused";
}

function outcomeUnknown(): StoreError {
  return new StoreError(
    "unavailable",
    "PostgreSQL: a commit was not answered, it may be done or not",
    undefined,
  );
}

export class PostgresSession {
  readonly #connection: SessionConnection;
  readonly #marks: CommitMarks | undefined;
  /** The client of the transaction. */
  #inTransaction: pg.Client | undefined;
  /** Resolves when the transaction has begun. */
  #begun: Promise<unknown> = Promise.resolve();
  /** What the transaction has failed with, if it has: of the statement before those that were answered last. */
  #fault: unknown;
  /** The number of the transaction, once it is known. */
  #transactionId: string | undefined;
  /** The answer that the next statement waits for: the server answers one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  constructor(options: SessionOptions) {
    this.#connection = new SessionConnection(options);
    const isWriter = options.writerOf !== undefined;
    this.#marks = isWriter && options.node !== undefined ? new CommitMarks(options.node.name) : undefined;
  }

  /** Statements that were given and are not answered yet. */
  get pending(): number {
    return this.#pending;
  }

  /** Whether a transaction has been begun here, and not ended. */
  get isInTransaction(): boolean {
    return this.#inTransaction !== undefined;
  }

  /** Rejects with a `StoreError`. */
  query(query: SessionQuery): Promise<SessionResult> {
    return this.#counted(query, async (config) => {
      if (this.#inTransaction === undefined) return await this.#inLine(() => this.#answer(config));
      await this.#begun;
      return await this.#askInTransaction(config);
    });
  }

  /**
   * The same for a statement that does no harm without a transaction, as one that locks rows: it does not wait for the begin,
   * and is answered after that.
   */
  askWithBegin(query: SessionQuery): Promise<SessionResult> {
    return this.#counted(query, async (config) => {
      const [, result] = await Promise.all([this.#begun, this.#askInTransaction(config)]);
      return result;
    });
  }

  async #counted(
    { text, values, name }: SessionQuery,
    ask: (config: pg.QueryConfig) => Promise<SessionResult>,
  ): Promise<SessionResult> {
    this.#pending += 1;
    try {
      checkValues(values);
      const named = name === undefined ? {} : { name };
      return await ask({ ...named, text, values: [...values] });
    } catch (error) {
      throw toStoreError(error);
    } finally {
      this.#pending -= 1;
    }
  }

  /** After what was given before: outside of transactions the server answers one after the other. */
  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const answer = this.#last.then(work);
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  /**
   * Without a level, each statement sees what is committed when it begins. Resolves when the begin is sent: the first statement
   * that waits for it rejects when it fails.
   */
  async begin(isolationLevel?: string): Promise<void> {
    this.#transactionId = undefined;
    const level = isolationLevel === undefined ? "" : ` isolation level ${isolationLevel}`;
    try {
      const client = await this.#inLine(() => this.#connection.connected());
      this.#fault = undefined;
      this.#inTransaction = client;
      this.#begun = this.#connection.ask(client, { text: `begin${level}` });
      // Each statement waits for it, and so does the end of the transaction.
      this.#begun.catch(() => undefined);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Notes the number that the server has given the transaction: without it, a commit without an answer is a failed one. */
  noteTransaction(id: string): void {
    this.#transactionId = id;
  }

  /** Rejects when the transaction is not committed, or, after some time, when nobody can say whether it is. */
  async commit(): Promise<void> {
    const id = this.#transactionId;
    try {
      // It goes with the commit. One that locked nothing has no number, and writes nothing.
      const mark = id === undefined || this.#marks === undefined ? undefined : this.query(this.#marks.next());
      const [marked, committed] = await Promise.allSettled([mark, this.#sendCommit()]);
      // Why the mark was not left, before what the server makes of that.
      for (const end of [marked, committed]) if (end.status === "rejected") throw end.reason;
    } catch (error) {
      if (id === undefined || isRefused(error)) throw error;
      if (this.#inTransaction !== undefined) this.#connection.forget(this.#inTransaction);
      this.#inTransaction = undefined;
      if (!(await this.#isCommitted(id))) throw error;
    }
    this.#inTransaction = undefined;
  }

  async #sendCommit(): Promise<void> {
    const { command } = await this.query({ text: "commit", values: [] });
    // The server says so in place of an error when a statement has failed and nobody has undone it.
    if (command === "ROLLBACK")
      throw new StoreError(
        "refused",
        "PostgreSQL: a failed statement was ignored, nothing was committed",
        undefined,
      );
  }

  async #isCommitted(id: string): Promise<boolean> {
    const until = performance.now() + outcomePatienceMs;
    for (;;) {
      try {
        const { rows } = await this.query({ text: "select pg_xact_status($1) as status", values: [id] });
        const status = rows[0]?.["status"];
        if (status !== "in progress") return status === "committed" && (await this.#hasMark());
      } catch (error) {
        // A standby that has taken over has never heard of its number.
        if (isRefused(error)) return false;
        if (this.#connection.isClosed) throw error;
      }
      if (performance.now() > until) throw outcomeUnknown();
      await wait(outcomePauseMs);
    }
  }

  /** Whether the mark of the last transaction is there; of one that leaves none its number has to do. */
  async #hasMark(): Promise<boolean> {
    if (this.#marks === undefined) return true;
    const { rows } = await this.query(this.#marks.asked);
    return this.#marks.isLast(rows[0]?.["mark"]);
  }

  /** A session that is broken was rolled back by the server. */
  async rollback(): Promise<void> {
    const client = this.#inTransaction;
    if (client === undefined) return;
    try {
      await this.query({ text: "rollback", values: [] });
    } catch {
      // The caller throws what has failed before.
      this.#connection.forget(client);
    } finally {
      this.#inTransaction = undefined;
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #askInTransaction(query: pg.QueryConfig): Promise<SessionResult> {
    const client = this.#inTransaction;
    if (client === undefined) throw new Error("the transaction is over");
    try {
      const result = await this.#connection.ask(client, query);
      this.#fault = undefined;
      return result;
    } catch (error) {
      if (isOfAbortedTransaction(error) && this.#fault !== undefined) throw this.#fault;
      this.#fault ??= error;
      throw error;
    }
  }

  /** Outside of a transaction, what was planned for tables of before is asked again in a new session. */
  async #answer(query: pg.QueryConfig): Promise<SessionResult> {
    try {
      return await this.#connection.ask(await this.#connection.connected(), query);
    } catch (error) {
      if (!isStalePlan(error)) throw error;
      return await this.#connection.ask(await this.#connection.connected(), query);
    }
  }
}
