/**
 * Pages of deliveries for the console, the newest first. What waits or was given up is found by its target, a name or a stop
 * by their indexes, and all else from the newest on, by when they were made; what few have is looked for piece by piece.
 */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import {
  type AskedDeliveryState,
  type DeliveryKind,
  openDeliveryStates,
} from "../../domain/outbound/delivery-state.ts";
import { numbersIn, textsIn, unindexed } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import { isOfName, isServedByIndex } from "../database/searches/name-pattern.ts";
import { type FoundPage, PieceSize, walkWays, type Way } from "../database/searches/page-walk.ts";
import { type ListedDelivery, listed, selectDeliveries } from "./delivery-queries.ts";

/** What is asked for; together as far as it is given. */
export interface DeliveryPageSelection {
  /** Only of these. */
  readonly companyIds: readonly number[];
  readonly target?: string;
  readonly state?: AskedDeliveryState;
  readonly kind?: DeliveryKind;
  /** With `*` and `?`. */
  readonly name?: string;
  readonly stopNbr?: string;
  /** Made at this time or later, and before that one, milliseconds UTC. */
  readonly since?: number;
  readonly until?: number;
  readonly guids?: readonly string[];
  /** Of these, those that nobody has fetched or removed. */
  readonly uncollected?: readonly number[];
}

/** A delivery's place in the order of the page. */
export interface DeliveryPlace {
  readonly createdAt: number;
  readonly id: number;
}

export interface DeliveryPageAsked {
  /** Only what comes behind it. */
  readonly from?: DeliveryPlace;
  readonly limit: number;
  /** Whether there is still time for another piece. */
  hasTime(): boolean;
}

export type FoundDeliveries = FoundPage<ListedDelivery, DeliveryPlace>;
type DeliveryWay = Way<ListedDelivery, DeliveryPlace>;

interface WayOptions {
  readonly read: Reader;
  readonly selection: DeliveryPageSelection;
  /** Of the companies, and of the name if one is given. */
  readonly targetIds: readonly number[];
}

const newest: DeliveryPlace = { createdAt: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER };

type Compare = (one: DeliveryPlace, other: DeliveryPlace) => number;
const byAge: Compare = (one, other) => other.createdAt - one.createdAt || other.id - one.id;
/** In the order in which they were put in the queue: that of the indexes of targets. */
const byNumber: Compare = (one, other) => other.id - one.id;

/** Rows beyond a place in an order that an index has, or that few rows are sorted by. */
interface PlacesFrom {
  readonly where: RawBuilder<SqlBool>;
  readonly order: "age" | "sortedAge" | "number";
}

const and = (conditions: readonly RawBuilder<SqlBool>[]) => sql.join([...conditions], sql` and `);

const columnsOf = {
  age: { at: sql`d.created_at`, id: sql`d.id` },
  sortedAge: { at: sql`${unindexed}d.created_at`, id: sql`${unindexed}d.id` },
  number: { at: undefined, id: sql`d.id` },
} as const;

function placesOf(
  { since = 0, until = Number.MAX_SAFE_INTEGER }: DeliveryPageSelection,
  { where, order }: PlacesFrom,
  { from, limit, offset }: { readonly from: DeliveryPlace; readonly limit: number; readonly offset: number },
) {
  const { at, id } = columnsOf[order];
  // One bound on either side: of two, SQLite may take the wider one, and walk the whole index up to the place.
  const end = Math.min(until, from.createdAt + 1);
  const beyond =
    at === undefined
      ? sql`${id} < ${from.id}`
      : sql`${at} >= ${since} and ${at} < ${end} and (${unindexed}d.created_at, ${id}) < (${from.createdAt}, ${from.id})`;
  const sorted = at === undefined ? sql`${id} desc` : sql`${at} desc, ${id} desc`;
  return sql<{
    id: number;
    at: number;
  }>`select d.id as id, d.created_at as at from deliveries as d where ${where} and ${beyond}
    order by ${sorted} limit ${limit} offset ${offset}`;
}

const isOneOf = (ids: readonly number[]) =>
  sql<SqlBool>`d.id in (select n.value from ${numbersIn(ids)} as n)`;

/** Whether it is one of all open ones, or in that state. */
function isOfState(state: AskedDeliveryState): RawBuilder<SqlBool> {
  return state === "open"
    ? sql<SqlBool>`${unindexed}d.state in (${sql.join([...openDeliveryStates])})`
    : sql<SqlBool>`${unindexed}d.state = ${state}`;
}

/** What the selection says of a delivery that is at hand: no index is to be used for it. */
function conditions({ selection, targetIds }: WayOptions): readonly RawBuilder<SqlBool>[] {
  const { target, state, kind, name, since, until, uncollected } = selection;
  return [
    ...(target === undefined ? [] : [sql<SqlBool>`${unindexed}d.target_id in (${sql.join([...targetIds])})`]),
    ...(state === undefined ? [] : [isOfState(state)]),
    ...(kind === undefined ? [] : [sql<SqlBool>`${unindexed}d.kind = ${kind}`]),
    ...(name === undefined ? [] : [isOfName("d.name", name)]),
    ...(since === undefined ? [] : [sql<SqlBool>`${unindexed}d.created_at >= ${since}`]),
    ...(until === undefined ? [] : [sql<SqlBool>`${unindexed}d.created_at < ${until}`]),
    ...(uncollected === undefined
      ? []
      : [isOneOf(uncollected), sql<SqlBool>`d.collected_at is null and d.removed_at is null`]),
  ];
}

async function placeOf(read: Reader, id: number | undefined): Promise<DeliveryPlace | undefined> {
  if (id === undefined) return undefined;
  const row = read.selectFrom("deliveries").select(["id", "created_at as createdAt"]);
  return await row.where("id", "=", id).executeTakeFirst();
}

async function deliveriesOf(
  read: Reader,
  ids: readonly number[],
  compare: Compare,
): Promise<readonly ListedDelivery[]> {
  if (ids.length === 0) return [];
  const rows = await selectDeliveries(read).where("d.id", "in", ids).execute();
  return rows.map(listed).toSorted(compare);
}

/** Deliveries at the places that the selection has, piece by piece. */
function wayAlong(options: WayOptions, places: PlacesFrom): DeliveryWay {
  const { read, selection } = options;
  const wanted = conditions(options);
  const piece = new PieceSize();
  const look = async (from: DeliveryPlace, limit: number, size: number) => {
    const end = await placesOf(selection, places, { from, limit: 1, offset: size - 1 }).execute(read);
    const all = placesOf(selection, places, { from, limit: size, offset: 0 });
    const { rows } = await sql<{ id: number }>`select p.id as id from (${all}) as p cross join deliveries as d
      where ${and([sql`d.id = p.id`, ...wanted])}
      order by ${places.order === "number" ? sql`` : sql`p.at desc, `}p.id desc limit ${limit}`.execute(read);
    const ids = rows.map(({ id }) => id);
    const compare = places.order === "number" ? byNumber : byAge;
    const seenTo = ids.length < limit ? end.rows[0]?.id : ids.at(-1);
    return {
      entries: await deliveriesOf(read, ids, compare),
      seenTo: await placeOf(read, seenTo),
    };
  };
  return (from, limit) => piece.during(() => look(from, limit, Math.max(limit, piece.rows)));
}

/** Those of a company, by when they were made. */
function wayOfCompany(options: WayOptions, companyId: number): DeliveryWay {
  return wayAlong(options, { where: sql`d.company_id = ${companyId}`, order: "age" });
}

/** Literally as in the indexes of targets, which no database uses for an argument. */
const stateConditions = {
  open: sql<SqlBool>`d.state in ('waiting', 'behind')`,
  dead: sql<SqlBool>`d.state = 'dead'`,
};

/** What waits for a target, or was given up. */
function wayOfTarget(
  options: WayOptions,
  targetId: number,
  state: keyof typeof stateConditions,
): DeliveryWay {
  const where = sql<SqlBool>`d.target_id = ${targetId} and ${stateConditions[state]}`;
  return wayAlong(options, { where, order: "number" });
}

/** So many of a name are sorted. */
const mostOfName = 5_000;

/** Those whose names begin so, of all companies; undefined when there are too many to be sorted. */
async function wayOfName(options: WayOptions, name: string): Promise<DeliveryWay | undefined> {
  const ids = sql.join([...options.selection.companyIds]);
  const where = sql<SqlBool>`d.company_id in (${ids}) and ${isOfName("d.name", name)}`;
  const some = sql`select 1 from deliveries as d where ${where} limit 1 offset ${mostOfName}`;
  if ((await some.execute(options.read)).rows.length > 0) return undefined;
  return wayAlong(options, { where, order: "sortedAge" });
}

/** Completions of a stop, and messages about it; few. */
function wayOfStop(options: WayOptions, stopNbr: string): DeliveryWay {
  const ids = sql.join([...options.selection.companyIds]);
  const subjects = (kind: DeliveryKind, table: "completions" | "messages") => sql`select id from deliveries
    where kind = ${kind} and subject_id in
      (select id from ${sql.table(table)} where company_id in (${ids}) and stop_nbr = ${stopNbr})`;
  const where = sql<SqlBool>`d.id in
    (${subjects("completion", "completions")} union all ${subjects("message", "messages")})`;
  return wayAlong(options, { where, order: "sortedAge" });
}

/** Those of these GUIDs. */
function wayOfGuids(options: WayOptions, guids: readonly string[]): DeliveryWay {
  const companyIds = sql.join([...options.selection.companyIds]);
  const where = sql<SqlBool>`d.guid in (select n.value from ${textsIn(guids)} as n)
    and ${unindexed}d.company_id in (${companyIds})`;
  return wayAlong(options, { where, order: "sortedAge" });
}

/** Of deliveries of these ids; the rest is among the conditions. */
function wayOfIds(options: WayOptions, ids: readonly number[]): DeliveryWay {
  const companyIds = sql.join([...options.selection.companyIds]);
  const where = sql<SqlBool>`${isOneOf(ids)} and ${unindexed}d.company_id in (${companyIds})`;
  return wayAlong(options, { where, order: "sortedAge" });
}

async function targetIdsOf(
  read: Reader,
  { companyIds, target }: DeliveryPageSelection,
): Promise<readonly number[]> {
  let query = read
    .selectFrom("outbound_targets")
    .select("id")
    .where("company_id", "in", [...companyIds]);
  if (target !== undefined) query = query.where("name", "=", target);
  return (await query.execute()).map(({ id }) => id);
}

/** Ways that together have all deliveries of the selection, and the order that they have in common. */
async function waysTo(options: WayOptions): Promise<{ ways: readonly DeliveryWay[]; compare: Compare }> {
  const { selection, targetIds } = options;
  const { companyIds, name, stopNbr, state, guids, uncollected } = selection;
  if (guids !== undefined) return { ways: [wayOfGuids(options, guids)], compare: byAge };
  if (stopNbr !== undefined) return { ways: [wayOfStop(options, stopNbr)], compare: byAge };
  if (uncollected !== undefined) return { ways: [wayOfIds(options, uncollected)], compare: byAge };
  const ofName = name !== undefined && isServedByIndex(name) ? await wayOfName(options, name) : undefined;
  if (ofName !== undefined) return { ways: [ofName], compare: byAge };
  if (state === "open" || state === "waiting" || state === "behind" || state === "dead") {
    const kind = state === "dead" ? "dead" : "open";
    return { ways: targetIds.map((id) => wayOfTarget(options, id, kind)), compare: byNumber };
  }
  return { ways: companyIds.map((id) => wayOfCompany(options, id)), compare: byAge };
}

/** The deliveries of the selection behind a place, as many as are asked for. */
export async function readDeliveryPage(
  read: Reader,
  selection: DeliveryPageSelection,
  { from = newest, limit, hasTime }: DeliveryPageAsked,
): Promise<FoundDeliveries> {
  const targetIds = await targetIdsOf(read, selection);
  if (targetIds.length === 0) return { entries: [], searchedTo: undefined };
  const { ways, compare } = await waysTo({ read, selection, targetIds });
  return await walkWays(ways, { from, limit, compare, hasTime });
}
