/**
 * A session for the copy of a state: values as the server writes them, no bound for statements, many rows at once. It is one
 * transaction from its begin to its end, and is never connected anew.
 */
import pg from "pg";
import { counted } from "../../../lib/counted.ts";
import { OperatorError } from "../../../lib/operator-error.ts";
import type { CopiedRow } from "../copy/copy-side.ts";
import { CopyIn } from "./copy-in.ts";
import { lastingFault, toStoreError, unreachable } from "./postgres-faults.ts";
import { verifying } from "./session-tls.ts";

const connectTimeoutMs = 10_000;
const plain: pg.CustomTypesConfig = { getTypeParser: () => (text: string) => text };

/** The copy may take long, and either side waits for the other; a lock is not waited for. */
const settings = [
  "set statement_timeout = 0",
  "set idle_in_transaction_session_timeout = 0",
  "set lock_timeout = 5000",
  "set extra_float_digits = 3",
  "set maintenance_work_mem = '256MB'",
];

/** All units of work lock a row of the first before they write (`lock-owners.ts`); what enters files for others writes the second. */
const lockOut = "lock table lanes, arrivals in exclusive mode";

const others = `
select count(*) from pg_stat_activity
where datname = current_database() and application_name ~ '^dropgate( |$)' and pid <> pg_backend_pid()`;

function translated(error: unknown): unknown {
  return lastingFault(error, "the address") ?? toStoreError(error);
}

async function connect(url: string): Promise<pg.Client> {
  try {
    const client = new pg.Client({
      ...{ connectionString: verifying(url), application_name: "dropgate", keepAlive: true, types: plain },
      connectionTimeoutMillis: connectTimeoutMs,
    });
    // What was asked rejects by itself.
    client.on("error", () => undefined);
    await client.connect();
    return client;
  } catch (error) {
    throw translated(unreachable(error));
  }
}

export class CopySession {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async connect(url: string): Promise<CopySession> {
    const session = new CopySession(await connect(url));
    for (const text of settings) await session.ask(text);
    return session;
  }

  /** Gives the rows, each as a list of its values. Rejects with a `StoreError`. */
  async ask(text: string, values: readonly unknown[] = []): Promise<readonly CopiedRow[]> {
    try {
      const query = { text, rowMode: "array" as const, values: [...values] };
      return (await this.#client.query<(string | null)[]>(query)).rows;
    } catch (error) {
      throw translated(error);
    }
  }

  /** Begins the transaction, which keeps all others from writing. */
  async begin(level: string): Promise<void> {
    await this.ask(`begin isolation level ${level}`);
    await this.ask(lockOut);
  }

  async commit(): Promise<void> {
    await this.ask("commit");
  }

  /** Takes lines of rows (`linesOf`) into a table. */
  async copyIn(text: string, chunks: AsyncIterable<string>): Promise<void> {
    try {
      await this.#client.query(new CopyIn(text)).take(chunks);
    } catch (error) {
      throw error instanceof OperatorError ? error : translated(error);
    }
  }

  /** Rejects while a daemon or a command has sessions with the database. */
  async requireAlone(): Promise<void> {
    // Within a transaction the server else answers as it did before.
    await this.ask("select pg_stat_clear_snapshot()");
    const [[count] = []] = await this.ask(others);
    if (count === "0") return;
    throw new OperatorError(
      `${counted(Number(count), "session")} of dropgate ${count === "1" ? "is" : "are"} connected to the database on PostgreSQL: stop all daemons and commands that ` +
        "use it, then copy; sessions of a process that was killed end by themselves",
    );
  }

  /** The server undoes what is not committed. */
  async close(): Promise<void> {
    await this.#client.end();
  }
}
