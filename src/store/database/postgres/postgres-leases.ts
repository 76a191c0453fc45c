/**
 * The leases in PostgreSQL. They have a session of their own: a long transaction of the writer must not keep a node from
 * saying that it is there. Rows that a transaction has locked are passed over (`skip locked`): whoever has locked them is
 * writing at this moment, and nobody can take the lane meanwhile. A renewal waits for them after the others, each for a while:
 * a company that is written for all the time is locked at almost any moment, and would run out in the middle of its work.
 */
import type {
  ClaimedLease,
  KnownNode,
  LaneNews,
  Lease,
  LeaseTable,
  NodeReport,
  Orders,
} from "../../cluster/lease-table.ts";
import { StoreError } from "../../../lib/store-error.ts";
import { named } from "../named-rows.ts";
import { neededSchema } from "./program-locks.ts";
import type { PostgresSession } from "./postgres-session.ts";

/** Milliseconds UTC, now and not at the begin of the transaction. */
const now = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

const statements = {
  enter: `insert into nodes (name, incarnation, version, schema, address, settings, started_at, seen_at)
    values ($1, $2, $3, $4, $5, $6, ${now}, ${now})
    on conflict (name) do update set incarnation = excluded.incarnation, version = excluded.version,
      schema = excluded.schema, address = excluded.address, settings = excluded.settings,
      started_at = excluded.started_at, seen_at = excluded.seen_at, is_draining = 0, is_stopped = 0
    where nodes.incarnation = $7 or nodes.is_stopped = 1 or nodes.seen_at < ${now} - $8::bigint
    returning name`,
  rival: `select ${now} - seen_at as silent_ms from nodes where name = $1`,
  beat: `update nodes set seen_at = ${now}, version = $3, schema = $4, address = $5, settings = $6, is_stopped = $7
    where name = $1 and incarnation = $2 returning is_draining`,
  live: `with needed as (select ${neededSchema} as needed_schema)
    select needed_schema, (select count(*) from lanes) as lanes, (select count(*) from nodes
      where seen_at >= ${now} - $1::bigint and is_draining = 0 and is_stopped = 0 and schema >= needed_schema) as nodes
    from needed`,
  renew: `update lanes set expires_at = ${now} + $2::bigint
    where company_id in (select company_id from lanes where owner = $1 and company_id = any($3::bigint[])
      order by company_id for update skip locked)
    returning company_id, epoch, arrived`,
  renewLocked: `update lanes set expires_at = ${now} + $2::bigint where owner = $1 and company_id = $3
    returning company_id, epoch, arrived`,
  // Those first that run out soonest.
  held: "select company_id, epoch, arrived from lanes where owner = $1 order by expires_at",
  claim: `with open as (
      select company_id, ((owner = $1) is true or expires_at < ${now} - $4::bigint) as is_overdue,
        case when owner is not null then expires_at end as ran_out_at from lanes
      where (owner is null or owner = $1 or expires_at < ${now}) and not company_id = any($5::bigint[])
      order by company_id for update skip locked),
    taken as (select * from open where is_overdue
      union all (select * from open where not is_overdue order by random() limit $3))
    update lanes set owner = $1, epoch = epoch + 1, expires_at = ${now} + $2::bigint from taken
    where lanes.company_id = taken.company_id
    returning lanes.company_id, lanes.epoch, lanes.arrived, taken.ran_out_at`,
  release: `update lanes set owner = null, expires_at = ${now}
    from unnest($2::bigint[], $3::bigint[]) given(id, of_epoch)
    where company_id = given.id and epoch = given.of_epoch and owner = $1`,
  news: "select company_id, arrived from lanes where owner = $1 and arrived <> seen",
  arrivedOf: "select arrived from lanes where company_id = $1",
  noteSeen: "update lanes set seen = $3 where owner = $1 and company_id = $2 and seen < $3",
  nodes: `select nodes.*, ${now} - seen_at as silent_ms,
    (select count(*) from lanes where owner = nodes.name) as lanes from nodes order by name`,
  owners: "select company_id, owner from lanes order by company_id",
  order: "update nodes set is_draining = $2 where name = $1",
  leave: `update nodes set is_stopped = 1, seen_at = ${now} where name = $1 and incarnation = $2`,
} as const;

type Name = keyof typeof statements;

interface NodeRow {
  readonly name: string;
  readonly incarnation: string;
  readonly version: string;
  readonly schema: number;
  readonly address: string;
  readonly settings: string;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly isDraining: number;
  readonly isStopped: number;
  readonly silentMs: number;
  readonly lanes: number;
}

function valuesOf({ name, incarnation, version, schema, address, settings }: NodeReport) {
  return [name, incarnation, version, schema, JSON.stringify(address), settings];
}

function knownNodeOf({ address, isDraining, isStopped, ...rest }: NodeRow): KnownNode {
  return {
    ...rest,
    address: JSON.parse(address) as KnownNode["address"],
    isDraining: isDraining === 1,
    isStopped: isStopped === 1,
  };
}

const nothing: Pick<Orders, "nodes" | "lanes" | "neededSchema"> = { nodes: 0, lanes: 0, neededSchema: 0 };

/** The leases of the database of this session, which has no other use. */
export class PostgresLeases implements LeaseTable {
  readonly #session: PostgresSession;

  constructor(session: PostgresSession) {
    this.#session = session;
  }

  async enter(report: NodeReport, { leaseMs, former }: Parameters<LeaseTable["enter"]>[1]) {
    const entered = await this.#ask("enter", [...valuesOf(report), former ?? null, leaseMs]);
    if (entered.length > 0) return { rival: undefined };
    const [rival] = await this.#ask<{ silentMs: number }>("rival", [report.name]);
    return { rival: rival ?? { silentMs: 0 } };
  }

  async beat(report: NodeReport, { leaseMs, isAway }: Parameters<LeaseTable["beat"]>[1]): Promise<Orders> {
    const [own] = await this.#ask<{ isDraining: number }>("beat", [...valuesOf(report), isAway ? 1 : 0]);
    const [live = nothing] = await this.#ask<typeof nothing>("live", [leaseMs]);
    return { ...live, isReplaced: own === undefined, isToDrain: own?.isDraining === 1 };
  }

  async renew(node: string, leaseMs: number, companyIds: readonly number[]): Promise<readonly Lease[]> {
    const renewed = [...(await this.#ask<Lease>("renew", [node, leaseMs, companyIds]))];
    const known = new Set(renewed.map(({ companyId }) => companyId));
    const wanted = new Set(companyIds);
    const locked = (await this.held(node)).filter(
      ({ companyId }) => wanted.has(companyId) && !known.has(companyId),
    );
    const until = performance.now() + leaseMs / 4;
    for (const lease of locked) {
      if (performance.now() > until) break;
      const own = await this.#renewLocked(node, leaseMs, lease);
      if (own !== undefined) renewed.push(own);
    }
    return renewed;
  }

  held(node: string): Promise<readonly Lease[]> {
    return this.#ask<Lease>("held", [node]);
  }

  claim(given: Parameters<LeaseTable["claim"]>[0]): Promise<readonly ClaimedLease[]> {
    const { node, leaseMs, limit, graceMs, without } = given;
    return this.#ask<ClaimedLease>("claim", [node, leaseMs, limit, graceMs, without]);
  }

  async release(node: string, leases: readonly Pick<Lease, "companyId" | "epoch">[]): Promise<void> {
    const [ids, epochs] = [leases.map(({ companyId }) => companyId), leases.map(({ epoch }) => epoch)];
    await this.#ask("release", [node, ids, epochs]);
  }

  news(node: string): Promise<readonly LaneNews[]> {
    return this.#ask<LaneNews>("news", [node]);
  }

  async arrivedOf(companyId: number): Promise<number> {
    const [lane] = await this.#ask<Pick<LaneNews, "arrived">>("arrivedOf", [companyId]);
    return lane?.arrived ?? 0;
  }

  async noteSeen(node: string, { companyId, arrived }: LaneNews): Promise<void> {
    await this.#ask("noteSeen", [node, companyId, arrived]);
  }

  async nodes(): Promise<readonly KnownNode[]> {
    return (await this.#ask<NodeRow>("nodes")).map(knownNodeOf);
  }

  owners(): ReturnType<LeaseTable["owners"]> {
    return this.#ask("owners");
  }

  async order(node: string, isToDrain: boolean): Promise<boolean> {
    const values = [node, isToDrain ? 1 : 0];
    const { rowCount } = await this.#session.query({ text: statements.order, values, name: "lease_order" });
    return (rowCount ?? 0) > 0;
  }

  async leave(node: string, incarnation: string): Promise<void> {
    await this.#ask("leave", [node, incarnation]);
  }

  async #ask<Row>(name: Name, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const { rows } = await this.#session.query({ text: statements[name], values, name: `lease_${name}` });
    return rows.map((row) => named(row) as Row);
  }

  /** Undefined when the row stays locked. */
  async #renewLocked(node: string, leaseMs: number, { companyId }: Lease): Promise<Lease | undefined> {
    try {
      const [renewed] = await this.#ask<Lease>("renewLocked", [node, leaseMs, companyId]);
      return renewed;
    } catch (error) {
      if (error instanceof StoreError && error.kind === "busy") return undefined;
      throw error;
    }
  }
}
