/** Opens a database of PostgreSQL: written through one session, and read through some. */
import { Kysely } from "kysely";
import { killPoint } from "../../../lib/kill-point.ts";
import { OperatorError } from "../../../lib/operator-error.ts";
import { assembleStore } from "../dialects/assemble-store.ts";
import type { MigrationSurroundings } from "../migrate.ts";
import type { Tables } from "../schema.ts";
import { StoreCondition } from "../store-condition.ts";
import { areUnitsChecked } from "../unit-checks.ts";
import { migratePostgres } from "./migrate-postgres.ts";
import { PostgresConnection, postgresDialect, type Sessions } from "./postgres-dialect.ts";
import { PostgresSession } from "./postgres-session.ts";
import { watchPostgres } from "./watch-postgres.ts";

export interface PostgresStoreOptions extends Pick<MigrationSurroundings, "log"> {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** The instance in the marker of the state directory; undefined when there is none. */
  readonly marker: string | undefined;
  /** Notes the instance in the database and in the marker; gives it. */
  agree(db: Kysely<Tables>): Promise<string>;
}

const oldestServer = 150_000;

/** Rejects when the server is too old, or set so that a commit may be lost or a text changed. */
async function checkServer(session: PostgresSession): Promise<void> {
  const text = `select current_setting('server_version_num')::bigint as version,
    current_setting('server_version') as shown, current_setting('server_encoding') as encoding,
    current_setting('synchronous_commit') as synchronous`;
  const { rows } = await session.query({ text, values: [] });
  const { version, shown, encoding, synchronous } = rows[0] ?? {};
  if (Number(version) < oldestServer)
    throw new OperatorError(`PostgreSQL ${String(shown)} is too old: 15 or newer is needed`);
  if (encoding !== "UTF8") {
    const remedy = "make one with `createdb --encoding=UTF8 --template=template0`";
    throw new OperatorError(`the database has the encoding ${String(encoding)} instead of UTF8: ${remedy}`);
  }
  if (synchronous === "off") {
    const remedy = "set it to on for the user or the database";
    throw new OperatorError(`synchronous_commit is off in PostgreSQL, and commits may be lost: ${remedy}`);
  }
}

/** A session without a bound for its answers, because a migration may take long, and a process wait for that of another. */
async function prepareDatabase(options: PostgresStoreOptions): Promise<void> {
  const session = new PostgresSession({ url: options.url, isReader: false, isPatient: true });
  try {
    await checkServer(session);
    killPoint("store.opened");
    await migratePostgres(session, options);
    killPoint("store.migrated");
  } finally {
    await session.close();
  }
}

/** Opens the database and migrates it. */
export async function openPostgresStore(options: PostgresStoreOptions) {
  await prepareDatabase(options);
  const { url } = options;
  const condition = new StoreCondition();
  const onFault = (error: unknown) => condition.note(error);
  const writer = new PostgresSession({ url, isReader: false });
  const reader = () => new PostgresSession({ url, isReader: true });
  // What several readers ask at the same moment goes on side by side.
  const reading = [reader(), reader(), reader(), reader()] as const;
  const end = async () => {
    await Promise.all([writer, ...reading].map((session) => session.close()));
  };
  const kyselyOf = (sessions: Sessions) =>
    new Kysely<Tables>({ dialect: postgresDialect(new PostgresConnection(sessions, onFault)) });
  try {
    const write = kyselyOf([writer]);
    const instanceId = await options.agree(write);
    return assembleStore({
      ...{ instanceId, condition, write, read: kyselyOf(reading), end },
      watch: areUnitsChecked() ? await watchPostgres(writer) : undefined,
      // The server does it by itself.
      vacuum: () => false,
    });
  } catch (error) {
    await end();
    throw error;
  }
}
