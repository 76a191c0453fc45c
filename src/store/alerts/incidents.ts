/** Incidents as rows. What opens and closes them is in `operations/alerts`. */
import type { Selectable } from "kysely";
import { alertKindNamed } from "../../domain/alerts/alert-kinds.ts";
import type { Incident, IncidentReport } from "../../domain/alerts/incident.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { named } from "../database/named-rows.ts";
import type { Tables } from "../database/schema.ts";

type IncidentRow = Selectable<Tables["incidents"]>;

/** None for a kind that this version does not know. */
function toIncident(row: IncidentRow): readonly Incident[] {
  const kind = alertKindNamed(row.kind);
  return kind === undefined ? [] : [{ ...named(row), kind, samples: JSON.parse(row.samples) as string[] }];
}

type IncidentKey = Pick<Incident, "companyId" | "kind" | "cause">;

/** All that are open, oldest first. */
export async function listOpenIncidents(db: Reader | Transaction): Promise<readonly Incident[]> {
  const rows = await db
    .selectFrom("incidents")
    .selectAll()
    .where("closed_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.flatMap(toIncident);
}

/** Where a page of closed incidents begins: behind this one. */
export interface ClosedPlace {
  readonly id: number;
  readonly closedAt: number;
}

/**
 * Those that were closed from one time to another, newest first; without `until` to the newest; of a company, or all;
 * those behind another, when it is given.
 */
export async function listClosedIncidents(
  db: Reader | Transaction,
  {
    since,
    until = Number.MAX_SAFE_INTEGER,
    companyId,
    behind,
    limit,
  }: {
    readonly since: number;
    readonly until?: number;
    readonly companyId?: number | undefined;
    readonly behind?: ClosedPlace | undefined;
    readonly limit: number;
  },
): Promise<readonly Incident[]> {
  const closed = db
    .selectFrom("incidents")
    .selectAll()
    .where("closed_at", "is not", null)
    .where("closed_at", ">=", since)
    .where("closed_at", "<=", until);
  let selected = companyId === undefined ? closed : closed.where("company_id", "=", companyId);
  if (behind !== undefined) {
    const { id, closedAt } = behind;
    selected = selected.where((eb) => eb(eb.refTuple("closed_at", "id"), "<", eb.tuple(closedAt, id)));
  }
  const rows = await selected.orderBy("closed_at", "desc").orderBy("id", "desc").limit(limit).execute();
  return rows.flatMap(toIncident);
}

/** The incident of that number; undefined when there is none. */
export async function findIncident(db: Reader, id: number): Promise<Incident | undefined> {
  const row = await db.selectFrom("incidents").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : toIncident(row)[0];
}

/** How many are closed, of a company or of all. */
export async function countClosedIncidents(db: Reader, companyId: number | undefined): Promise<number> {
  const closed = db
    .selectFrom("incidents")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("closed_at", "is not", null);
  const selected = companyId === undefined ? closed : closed.where("company_id", "=", companyId);
  return (await selected.executeTakeFirstOrThrow()).count;
}

/** The last incident of that cause. */
export async function findLastIncident(
  tx: Transaction,
  { companyId, kind, cause }: IncidentKey,
): Promise<Incident | undefined> {
  const row = await tx
    .selectFrom("incidents")
    .selectAll()
    .where("company_id", "=", companyId)
    .where("kind", "=", kind)
    .where("cause", "=", cause)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : toIncident(row)[0];
}

/** An incident without its number. */
export type NewIncident = Omit<Incident, "id">;

function rowOf({ companyId, kind, cause, openedAt, seenAt, closedAt, ...rest }: NewIncident) {
  const { reopened, count, level, summary, remedy, samples } = rest;
  return {
    ...{ company_id: companyId, kind, cause, opened_at: openedAt, seen_at: seenAt, closed_at: closedAt },
    ...{ reopened, count, level, summary, remedy, samples: JSON.stringify(samples) },
  };
}

export async function insertIncident(tx: Transaction, incident: NewIncident): Promise<void> {
  await tx.insertInto("incidents").values(rowOf(incident)).execute();
}

/** Writes the incident as it is now. */
export async function saveIncident(tx: Transaction, { id, ...incident }: Incident): Promise<void> {
  await tx.updateTable("incidents").set(rowOf(incident)).where("id", "=", id).execute();
}

/** What each audience was told last of the incidents with these ids: by incident, then by audience. */
export async function listReports(
  tx: Transaction,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ReadonlyMap<number, IncidentReport>>> {
  const reports = new Map<number, Map<number, IncidentReport>>();
  if (ids.length === 0) return reports;
  const rows = await tx.selectFrom("incident_reports").selectAll().where("incident_id", "in", ids).execute();
  for (const row of rows) {
    const { incidentId, audienceId, ...report } = named(row);
    const ofIncident = reports.get(incidentId) ?? new Map<number, IncidentReport>();
    reports.set(incidentId, ofIncident.set(audienceId, report));
  }
  return reports;
}

interface ReportTo {
  readonly audienceId: number;
  readonly now: number;
}

/** Notes that the audience knows the incident as it is now. */
export async function saveReport(
  tx: Transaction,
  { id, level }: Pick<Incident, "id" | "level">,
  { audienceId, state, now }: Pick<IncidentReport, "state"> & ReportTo,
): Promise<void> {
  const told = { state, level, reported_at: now };
  await tx
    .insertInto("incident_reports")
    .values({ incident_id: id, audience_id: audienceId, ...told })
    .onConflict((conflict) => conflict.columns(["incident_id", "audience_id"]).doUpdateSet(told))
    .execute();
}

/** Removes incidents of a company that were closed before this time, with what was told of them; at most `limit`. */
export async function removeClosedIncidents(
  tx: Transaction,
  {
    companyId,
    before,
    limit,
  }: { readonly companyId: number; readonly before: number; readonly limit: number },
): Promise<number> {
  const rows = await tx
    .selectFrom("incidents")
    .select("id")
    .where("closed_at", "is not", null)
    .where("closed_at", "<", before)
    .where("company_id", "=", companyId)
    .limit(limit)
    .execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  for (const table of ["incident_reports", "incident_receivers"] as const)
    await tx.deleteFrom(table).where("incident_id", "in", ids).execute();
  await tx.deleteFrom("incidents").where("id", "in", ids).execute();
  return ids.length;
}
