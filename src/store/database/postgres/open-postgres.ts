/** Opens a database of PostgreSQL: written through one session, and read through some. */
import { Kysely } from "kysely";
import type { Logger } from "../../../lib/logs/log.ts";
import { killPoint } from "../../../lib/kill-point.ts";
import { assembleStore } from "../dialects/assemble-store.ts";
import { usedDatabaseBytes } from "../database-sizes.ts";
import type { Tables } from "../schema.ts";
import { StoreCondition } from "../store-condition.ts";
import { areUnitsChecked } from "../groups/unit-checks.ts";
import { setDataVersion } from "../version-cache.ts";
import type { Migration } from "../migrations/migrations.ts";
import { allSchemas, type KnownSchemas, knownSchemas } from "./known-schemas.ts";
import { migratePostgres } from "./migrate-postgres.ts";
import type { DrainPatience } from "./older-programs.ts";
import { PostgresArrivals } from "./postgres-arrivals.ts";
import { PostgresConnection, postgresDialect, type Sessions } from "./postgres-dialect.ts";
import { lastingFault } from "./postgres-faults.ts";
import { PostgresLeases } from "./postgres-leases.ts";
import { PostgresSession } from "./postgres-session.ts";
import type { SessionNode } from "./session-connection.ts";
import { requireServer } from "./server-facts.ts";
import { storeReaders } from "./sessions-of-node.ts";
import { beforeIds, watchPostgres } from "./watch-postgres.ts";

export interface PostgresStoreOptions {
  readonly log?: Pick<Logger, "info" | "warn"> | undefined;
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  readonly node?: SessionNode | undefined;
  /** The instance in the marker of the state directory; undefined when there is none. */
  readonly marker: string | undefined;
  /** Those that the program knows; all, but for tests. */
  readonly known?: readonly Migration[] | undefined;
  /** How long a migration waits for older nodes. */
  readonly patience?: DrainPatience | undefined;
  /** Notes the instance in the database and in the marker; gives it. */
  agree(db: Kysely<Tables>): Promise<string>;
}

/** A session without a bound for its answers, because a migration may take long, and a process wait for that of another. */
async function prepareDatabase(options: PostgresStoreOptions, known: KnownSchemas): Promise<void> {
  const session = new PostgresSession({ url: options.url, isReader: false, isPatient: true });
  try {
    await requireServer(session);
    killPoint("store.opened");
    await migratePostgres(session, { ...options, known });
    killPoint("store.migrated");
  } catch (error) {
    throw lastingFault(error) ?? error;
  } finally {
    await session.close();
  }
}

/** So long the claim of a company waits for those who are writing for it. */
const lockMsOf = (node: SessionNode | undefined) => Math.floor((node?.leaseMs ?? shortestLeaseMs) / 8);
const shortestLeaseMs = 2_000;

/** Opens the database and migrates it. */
export async function openPostgresStore(options: PostgresStoreOptions) {
  const { url, node } = options;
  const known = options.known === undefined ? allSchemas : knownSchemas(options.known);
  await prepareDatabase(options, known);
  const condition = new StoreCondition();
  const onFault = (error: unknown) => condition.note(error);
  const writer = new PostgresSession({ url, node, isReader: false, writerOf: known.current });
  const reader = () => new PostgresSession({ url, node, isReader: true });
  // What several readers ask at the same moment goes on side by side.
  const others = Array.from({ length: storeReaders - 1 }, reader);
  const reading = [reader(), ...others] as const;
  const leasing = new PostgresSession({ url, node, isReader: false, lockMs: lockMsOf(node) });
  const entering = new PostgresSession({
    ...{ url, node, isReader: false, writerOf: known.current },
    counter: "arrivals",
  });
  const arrivals = new PostgresArrivals({
    ...{ entering, reading: leasing, onFault },
    before: areUnitsChecked() ? beforeIds : undefined,
  });
  const end = async () => {
    await Promise.all([writer, leasing, entering, ...reading].map((session) => session.close()));
  };
  const over = (connection: PostgresConnection) =>
    new Kysely<Tables>({ dialect: postgresDialect(connection) });
  const kyselyOf = (sessions: Sessions) => over(new PostgresConnection(sessions, onFault));
  // In a session of its own: others do not wait for it.
  const asOfNow = async <T>(work: (read: Kysely<Tables>) => Promise<T>): Promise<T> => {
    const session = reader();
    try {
      return await kyselyOf([session]).transaction().setIsolationLevel("repeatable read").execute(work);
    } finally {
      await session.close();
    }
  };
  const connection = new PostgresConnection(reading, onFault);
  const read = over(connection);
  // Those who ask for the same before it is sent share the answer.
  setDataVersion(read, () => connection.version);
  try {
    const write = kyselyOf([writer]);
    const instanceId = await options.agree(write);
    return assembleStore({
      isOnServer: true,
      ...{ leases: new PostgresLeases(leasing), arrivals },
      ...{ instanceId, condition, write, read, asOfNow, end },
      watch: areUnitsChecked() ? await watchPostgres(writer) : undefined,
      sizes: async () => ({ file: await usedDatabaseBytes(read), wal: 0 }),
      // The server does it by itself.
      vacuum: () => false,
    });
  } catch (error) {
    await end();
    throw error;
  }
}
