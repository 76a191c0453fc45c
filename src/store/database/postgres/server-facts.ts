/** What of a server of PostgreSQL decides whether commits are durable, times right, and all sessions served. */
import { StoreError } from "../../../lib/store-error.ts";
import { OperatorError } from "../../../lib/operator-error.ts";
import type { PostgresSession } from "./postgres-session.ts";
import { idleInTransactionMs } from "./session-connection.ts";
import { sessionsOfNode } from "./sessions-of-node.ts";

export interface ServerFault {
  readonly what: string;
  readonly remedy: string;
}

export interface ServerFacts {
  /** As the server writes it. */
  readonly version: string;
  /** `150004` for 15.4. */
  readonly versionNumber: number;
  readonly encoding: string;
  readonly synchronousCommit: string;
  readonly fsync: string;
  /** Why commits would be lost or texts changed; undefined for a server that may be used. */
  readonly fault: ServerFault | undefined;
  /** A standby, which does not write. */
  readonly isStandby: boolean;
  /** By how much the clock of the server is ahead of that of this machine, milliseconds, by the middle of the question. */
  readonly clockAheadMs: number;
  /** May make tables, as the first start and migrations do. */
  readonly mayCreate: boolean;
  /** What our own sessions have asked for came to be: no pooler between has left it out. */
  readonly isTimeoutSet: boolean;
  /** The version of TLS by which the server is spoken to. */
  readonly tls: string | undefined;
  /** There is a network between this machine and the server. */
  readonly isRemote: boolean;
  /** Sessions that others leave to this user. */
  readonly freeSessions: number;
  /** Sessions that a daemon and one command have. */
  readonly neededSessions: number;
}

const oldestServer = 150_000;

const text = `
select current_setting('server_version') as version, current_setting('server_version_num')::bigint as number,
  current_setting('server_encoding') as encoding, current_setting('synchronous_commit') as synchronous,
  current_setting('fsync') as fsync, pg_is_in_recovery() as standby,
  floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now,
  coalesce(has_schema_privilege(current_schema(), 'create'), false) as creates,
  (select setting from pg_settings where name = 'idle_in_transaction_session_timeout') as idle,
  (select version from pg_stat_ssl where pid = pg_backend_pid()) as tls,
  coalesce(inet_client_addr() <> inet_server_addr(), false) as remote,
  least(
    current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
      - coalesce(current_setting('reserved_connections', true), '0')::bigint
      - (select count(*) from pg_stat_activity where usesysid is not null
          and not (usename = current_user and client_addr is not distinct from inet_client_addr()
            and coalesce(application_name, '') ~ '^dropgate( |$)')),
    (select case when rolconnlimit < 0 then 2147483647 else rolconnlimit end from pg_roles
      where rolname = current_user),
    (select case when datconnlimit < 0 then 2147483647 else datconnlimit end from pg_database
      where datname = current_database())
  ) as free`;

type Settings = Pick<ServerFacts, "version" | "versionNumber" | "encoding" | "synchronousCommit">;

function faultOf({ version, versionNumber, encoding, synchronousCommit }: Settings): ServerFault | undefined {
  if (versionNumber < oldestServer)
    return { what: `PostgreSQL ${version} is too old`, remedy: "15 or newer is needed" };
  if (encoding !== "UTF8") {
    const remedy = "make one with `createdb --encoding=UTF8 --template=template0`";
    return { what: `the database has the encoding ${encoding} instead of UTF8`, remedy };
  }
  if (synchronousCommit === "off") {
    const remedy = "set it to on for the user or the database";
    return { what: "synchronous_commit is off in PostgreSQL, and commits may be lost", remedy };
  }
  return undefined;
}

/** Rejects with a `StoreError`. */
export async function findServerFacts(session: PostgresSession): Promise<ServerFacts> {
  const asked = Date.now();
  const { rows } = await session.query({ text, values: [] });
  const between = (asked + Date.now()) / 2;
  const row = rows[0] ?? {};
  const settings = {
    version: String(row["version"]),
    versionNumber: Number(row["number"]),
    encoding: String(row["encoding"]),
    synchronousCommit: String(row["synchronous"]),
  };
  return {
    ...settings,
    fault: faultOf(settings),
    fsync: String(row["fsync"]),
    isStandby: Number(row["standby"]) === 1,
    clockAheadMs: Math.round(Number(row["now"]) - between),
    mayCreate: Number(row["creates"]) === 1,
    isTimeoutSet: Number(row["idle"]) === idleInTransactionMs,
    tls: row["tls"] === null ? undefined : String(row["tls"]),
    isRemote: Number(row["remote"]) === 1,
    freeSessions: Number(row["free"]),
    neededSessions: sessionsOfNode,
  };
}

/** Rejects with an `OperatorError` for a server that may not be used, and with a `StoreError` for one that does not write now. */
export async function requireServer(session: PostgresSession): Promise<void> {
  const facts = await findServerFacts(session);
  const { fault } = facts;
  if (fault !== undefined) throw new OperatorError(`${fault.what}: ${fault.remedy}`);
  if (!facts.isStandby) return;
  const what =
    "the server of PostgreSQL is a standby, which does not write: name the primary in `store`, or promote it";
  throw new StoreError("unavailable", what, undefined);
}
