/** The connection of a session: made when it is first used, and anew after it broke. */
import pg from "pg";
import { StoreError } from "../../../lib/store-error.ts";
import { writerLock } from "./advisory-locks.ts";
import { isReadOnlyFault, isStalePlan, unreachable } from "./postgres-faults.ts";
import { typeParsers } from "./postgres-values.ts";
import { neededSchema, tooOldText } from "./program-locks.ts";
import { verifying } from "./session-tls.ts";

export interface SessionOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Refuses to write. */
  readonly isReader: boolean;
  /** The server ends what takes longer, in milliseconds. */
  readonly statementMs?: number | undefined;
  /** The server waits no longer for a locked row, in milliseconds. */
  readonly lockMs?: number | undefined;
  /** Waits for each answer, however long it takes. */
  readonly isPatient?: true | undefined;
  /** The schema of the program that writes in it: it is not connected when the database is not for that any more. */
  readonly writerOf?: number | undefined;
  /** Under this name it counts the files that it enters, beside that of the node: no two sessions of a node have the same. */
  readonly counter?: string | undefined;
  /** That of a daemon; the server shows its name beside the session. */
  readonly node?: SessionNode | undefined;
}

export interface SessionNode {
  readonly name: string;
  readonly leaseMs: number;
}

export type ServerAnswer = pg.QueryResult<Record<string, unknown>>;

const connectTimeoutMs = 10_000;
/** Longer than any statement of ours takes: a server that cannot be reached any more never answers. */
const answerTimeoutMs = 60_000;
/** A unit of work waits for nothing but the database. */
export const idleInTransactionMs = 8_000;
/**
 * Tables grow after statements were planned for them: one that has an index for its rows takes it, also while the table is
 * small. All of what writes is made for that.
 */
const writerSettings = "-c enable_seqscan=off -c jit=off";
/** Nobody waits any more for what a process has begun that is gone. */
const patientSettings = `${writerSettings} -c client_connection_check_interval=2000`;
/** Below the lease of a company: a process that stops within a transaction must not keep the locks of its rows beyond it. */
export function idleInTransactionMsOf({ leaseMs }: Pick<SessionNode, "leaseMs">): number {
  return Math.min(idleInTransactionMs, Math.max(leaseMs / 2, leaseMs - 2_000));
}

function settingsOf({ isReader, isPatient, counter }: SessionOptions): string {
  if (isReader) return "-c default_transaction_read_only=on";
  const settings = isPatient ? patientSettings : writerSettings;
  return counter === undefined ? settings : `${settings} -c dropgate.counter=${counter}`;
}

function clientOf(options: SessionOptions): pg.Client {
  const { url, isPatient, statementMs, lockMs, node } = options;
  return new pg.Client({
    connectionString: verifying(url),
    application_name: node === undefined ? "dropgate" : `dropgate ${node.name}`,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(isPatient ? {} : { query_timeout: answerTimeoutMs }),
    ...(statementMs === undefined ? {} : { statement_timeout: statementMs }),
    ...(lockMs === undefined ? {} : { lock_timeout: lockMs }),
    idle_in_transaction_session_timeout:
      node === undefined ? idleInTransactionMs : Math.floor(idleInTransactionMsOf(node)),
    keepAlive: true,
    types: typeParsers,
    options: settingsOf(options),
    pipeline: true,
  });
}

/** Before anything is written: meanwhile a migration may have made the program too old. */
async function requireProgram(client: pg.Client, schema: number | undefined): Promise<void> {
  if (schema === undefined) return;
  // In this order: a migration that does not see the lock is seen here.
  await client.query("select pg_advisory_lock_shared($1, $2)", [writerLock, schema]);
  const { rows } = await client.query<{ needed: number }>(`select ${neededSchema} as needed`);
  const needed = rows[0]?.needed ?? 0;
  if (needed > schema) throw new StoreError("unfit", tooOldText(schema, needed), undefined);
}

export class SessionConnection {
  readonly #options: SessionOptions;
  #client: Promise<pg.Client> | undefined;
  /** The one that `#client` has become. */
  #current: pg.Client | undefined;
  #isClosed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = this.#client;
    this.#client = undefined;
    // One that never came to be needs no end.
    await (await client?.catch(() => undefined))?.end();
  }

  async ask(client: pg.Client, query: pg.QueryConfig): Promise<ServerAnswer> {
    try {
      return await client.query(query);
    } catch (error) {
      // Not of the server: no answer came, or one that cannot be read. With a stale plan no later one would do better.
      const isOfServer = error instanceof pg.DatabaseError && !isStalePlan(error);
      if (!isOfServer || (isReadOnlyFault(error) && !this.#options.isReader)) this.forget(client);
      throw error;
    }
  }

  /** The client, connected when it is first asked for, and anew after it broke. */
  connected(): Promise<pg.Client> {
    if (this.#isClosed) return Promise.reject(new Error("the store is closed"));
    if (this.#client !== undefined) return this.#client;
    const client = this.#connect();
    this.#client = client;
    // Before whoever asked knows it.
    client.catch(() => {
      if (this.#client === client) this.#client = undefined;
    });
    return client;
  }

  async #connect(): Promise<pg.Client> {
    try {
      // It reads the files of TLS that the address names, which may be missing for a while.
      return await this.#admitted(clientOf(this.#options));
    } catch (error) {
      throw error instanceof StoreError ? error : unreachable(error);
    }
  }

  async #admitted(client: pg.Client): Promise<pg.Client> {
    const forget = () => this.forget(client);
    // Each statement that was under way rejects by itself.
    client.on("error", forget);
    client.on("end", forget);
    try {
      await client.connect();
      await requireProgram(client, this.#options.writerOf);
      this.#current = client;
      return client;
    } catch (error) {
      // Why it failed is thrown.
      void client.end().catch(() => undefined);
      throw error;
    }
  }

  /** The next use connects anew, and the server undoes what it has of this session. */
  forget(client: pg.Client): void {
    if (this.#current !== client) return;
    this.#current = undefined;
    this.#client = undefined;
    // It may be broken already.
    void client.end().catch(() => undefined);
  }
}
