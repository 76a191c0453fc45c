/**
 * The leases in PostgreSQL. They have a session of their own: a long transaction of the writer must not keep a node from
 * saying that it is there. They have rows of their own too, beside the lanes that each writer locks: a company that is written
 * for all the time is locked at almost any moment, and a renewal that waited for its lane would come too late.
 */
import type {
  ClaimedLease,
  KnownNode,
  Lease,
  LeaseTable,
  NodeReport,
  Orders,
} from "../../cluster/lease-table.ts";
import { StoreError } from "../../../lib/store-error.ts";
import { named } from "../named-rows.ts";
import { neededSchema } from "./program-locks.ts";
import type { PostgresSession } from "./postgres-session.ts";
import { serverNow } from "./server-clock.ts";

/** Both rows: the lane, whose lock keeps all that is written under the lease before, and the lease. */
function claimOf(locking: string): string {
  return `with open as (
      select lanes.company_id,
        ((leases.owner = $1) is true or leases.expires_at < ${serverNow} - $4::bigint) as is_overdue,
        least(leases.orphaned_at, case when leases.owner is not null then leases.expires_at - $2::bigint end) as orphaned_at
      from lanes join leases on leases.company_id = lanes.company_id
      where (leases.owner is null or leases.owner = $1 or leases.expires_at < ${serverNow})
        and lanes.company_id = any($5::bigint[])
      order by lanes.company_id ${locking}),
    taken as (select * from open where is_overdue
      union all (select * from open where not is_overdue order by random() limit $3)),
    claimed as (update lanes set epoch = epoch + 1 from taken where lanes.company_id = taken.company_id
      returning lanes.company_id, lanes.epoch, taken.orphaned_at),
    leased as (update leases set owner = $1, epoch = claimed.epoch, expires_at = ${serverNow} + $2::bigint,
        orphaned_at = claimed.orphaned_at
      from claimed where leases.company_id = claimed.company_id)
    select * from claimed`;
}

/** Those that the node has as it believes, in one order, as all who take several of them. */
const inTheseEpochs = `company_id in (select company_id from leases
  join unnest($2::bigint[], $3::bigint[]) given(id, of_epoch) on company_id = id and epoch = of_epoch
  where owner = $1 order by company_id for update of leases)`;

const statements = {
  enter: `insert into nodes (name, incarnation, version, schema, address, settings, started_at, seen_at)
    values ($1, $2, $3, $4, $5, $6, ${serverNow}, ${serverNow})
    on conflict (name) do update set incarnation = excluded.incarnation, version = excluded.version,
      schema = excluded.schema, address = excluded.address, settings = excluded.settings,
      started_at = excluded.started_at, seen_at = excluded.seen_at, is_draining = 0, is_stopped = 0
    where nodes.incarnation = $7 or nodes.is_stopped = 1 or nodes.seen_at < ${serverNow} - $8::bigint
    returning name`,
  rival: `select ${serverNow} - seen_at as silent_ms from nodes where name = $1`,
  beat: `update nodes set seen_at = ${serverNow}, version = $3, schema = $4, address = $5, settings = $6, is_stopped = $7
    where name = $1 and incarnation = $2 returning is_draining`,
  live: `with needed as (select ${neededSchema} as needed_schema)
    select needed_schema, (select count(*) from lanes) as lanes, (select count(*) from nodes
      where seen_at >= ${serverNow} - $1::bigint and is_draining = 0 and is_stopped = 0 and schema >= needed_schema
        and (name = $2 or not exists (select from leases where owner = nodes.name and expires_at < ${serverNow}))) as nodes,
      (select min(expires_at) - ${serverNow} from leases where owner <> $2 and expires_at >= ${serverNow}) as next_over_ms
    from needed`,
  // In one order, as all who take several of them.
  renew: `update leases set expires_at = ${serverNow} + $2::bigint
    where company_id in (select company_id from leases where owner = $1 and company_id = any($3::bigint[])
      order by company_id for update)
    returning company_id, epoch`,
  claim: claimOf("for update skip locked"),
  // Whoever has locked the lane of a company is writing at this moment.
  claimLocked: claimOf("for update"),
  open: `select company_id, ((owner = $1) is true or expires_at < ${serverNow} - $2::bigint) as is_overdue from leases
    where (owner is null or owner = $1 or expires_at < ${serverNow}) and not company_id = any($3::bigint[])`,
  settle: `update leases set orphaned_at = null where ${inTheseEpochs}`,
  release: `update leases set owner = null, expires_at = ${serverNow},
    orphaned_at = case when $4 then orphaned_at else coalesce(orphaned_at, ${serverNow}) end where ${inTheseEpochs}`,
  nodes: `select nodes.*, ${serverNow} - seen_at as silent_ms,
    (select count(*) from leases where owner = nodes.name) as lanes from nodes order by name`,
  owners: "select company_id, owner from leases order by company_id",
  order: "update nodes set is_draining = $2 where name = $1",
  leave: `update nodes set is_stopped = 1, seen_at = ${serverNow} where name = $1 and incarnation = $2`,
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

function valuesOfLeases(node: string, leases: readonly Lease[]) {
  return [node, leases.map(({ companyId }) => companyId), leases.map(({ epoch }) => epoch)];
}

function knownNodeOf({ address, isDraining, isStopped, ...rest }: NodeRow): KnownNode {
  return {
    ...rest,
    address: JSON.parse(address) as KnownNode["address"],
    isDraining: isDraining === 1,
    isStopped: isStopped === 1,
  };
}

const nothing: Omit<Orders, "isReplaced" | "isToDrain"> = {
  ...{ nodes: 0, lanes: 0, neededSchema: 0 },
  nextOverMs: null,
};

/** The leases of the database of this session, in which arrivals are read besides. */
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
    const [live = nothing] = await this.#ask<typeof nothing>("live", [leaseMs, report.name]);
    return { ...live, isReplaced: own === undefined, isToDrain: own?.isDraining === 1 };
  }

  renew(node: string, leaseMs: number, companyIds: readonly number[]): Promise<readonly Lease[]> {
    return this.#ask<Lease>("renew", [node, leaseMs, companyIds]);
  }

  async claim(given: Parameters<LeaseTable["claim"]>[0]): Promise<readonly ClaimedLease[]> {
    const { node, leaseMs, limit, graceMs, without } = given;
    const open = await this.#ask<{ companyId: number; isOverdue: boolean }>("open", [node, graceMs, without]);
    const wanted = limit > 0 ? open : open.filter(({ isOverdue }) => isOverdue);
    if (wanted.length === 0) return [];
    const of = (all: typeof open) => all.map(({ companyId }) => companyId);
    const claimed = [
      ...(await this.#ask<ClaimedLease>("claim", [node, leaseMs, limit, graceMs, of(wanted)])),
    ];
    const had = new Set(claimed.map(({ companyId }) => companyId));
    // Those that were locked, one by one: each waits for a writer or two.
    const until = performance.now() + leaseMs / 4;
    for (const one of wanted) {
      if (performance.now() > until) break;
      const left = Math.max(0, limit - claimed.length);
      if (had.has(one.companyId) || (left === 0 && !one.isOverdue)) continue;
      claimed.push(...(await this.#claimLocked([node, leaseMs, left, graceMs, of([one])])));
    }
    return claimed;
  }

  async settle(node: string, leases: readonly Lease[]): Promise<void> {
    await this.#ask("settle", valuesOfLeases(node, leases));
  }

  async release(
    node: string,
    leases: readonly Lease[],
    { isSure }: Parameters<LeaseTable["release"]>[2],
  ): Promise<void> {
    await this.#ask("release", [...valuesOfLeases(node, leases), isSure]);
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

  /** None when the lane stays locked. */
  async #claimLocked(values: readonly unknown[]): Promise<readonly ClaimedLease[]> {
    try {
      return await this.#ask<ClaimedLease>("claimLocked", values);
    } catch (error) {
      if (error instanceof StoreError && error.kind === "busy") return [];
      throw error;
    }
  }
}
