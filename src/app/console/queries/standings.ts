/** How companies stand, as far as the store knows it: one question for all who watch. */
import { isAnybodyTold } from "../../../config/alert-settings.ts";
import { alertKind } from "../../../domain/alerts/alert-kinds.ts";
import { operatorId } from "../../../domain/alerts/audience.ts";
import type { Incident } from "../../../domain/alerts/incident.ts";
import { incidentRemedy, incidentTitle } from "../../../domain/alerts/notice.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  DayCount,
  OpenIncident,
  StoredStandings,
} from "../../../endpoints/http/console/live/standing.ts";
import { dayMs, hourMs, minuteMs } from "../../../lib/durations.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { listOpenIncidents } from "../../../store/alerts/incidents.ts";
import type { Reader } from "../../../store/database/database.ts";
import { dayOf } from "../../../store/ledger/daily-files.ts";
import { listHourCounts } from "../../../store/ledger/file-rates.ts";
import type { QueryContext } from "../query-context.ts";
import { failingPlaces } from "./failing-places.ts";

const daysOfWeek = 7;
/** Of one company, or of the installation: more are nothing that anybody reads at a glance. */
const mostIncidents = 100;

/** A number of days since 1970 as a date. */
function dayText(day: number): string {
  return isoTime(day * dayMs).slice(0, 10);
}

function shownIncident(incident: Incident): OpenIncident {
  const { id, kind, summary, openedAt } = incident;
  const of = alertKind(kind);
  const companyRemedy = of.scope === "operator" ? undefined : of.companyRemedy;
  const [title, remedy] = [incidentTitle(incident), incidentRemedy(incident)];
  return { id, kind, title, summary, remedy, companyRemedy, openedAt };
}

/** By company and day. */
async function countsOf(
  read: Reader,
  companyIds: readonly number[],
  days: readonly number[],
): Promise<(companyId: number, day: number) => DayCount> {
  const rows = await read
    .selectFrom("daily_files")
    .select(({ fn }) => ["company_id", "day", "state", fn.sum<number>("files").as("files")])
    .where("company_id", "in", [...companyIds])
    .where("day", "in", [...days])
    .groupBy(["company_id", "day", "state"])
    .execute();
  const counts = new Map(rows.map((row) => [`${row.company_id} ${row.day} ${row.state}`, Number(row.files)]));
  return (companyId, day) => ({
    applied: counts.get(`${companyId} ${day} applied`) ?? 0,
    refused: counts.get(`${companyId} ${day} refused`) ?? 0,
  });
}

/** Whoever compares with a moment a week ago need not be told anew more often. */
const byNowStepMs = 5 * minuteMs;

/**
 * By company, how many files had been decided by the same time of day on the day that began then: whole hours, and of the one
 * under way as much as is over of it. Undefined where that day's hours are not known.
 */
async function countsByNow(
  read: Reader,
  companyIds: readonly number[],
  { begin, now }: { readonly begin: number; readonly now: number },
): Promise<(companyId: number) => DayCount | undefined> {
  const span = { companyIds, since: begin, until: begin + dayMs };
  const hours = Map.groupBy(await listHourCounts(read, span), ({ companyId }) => companyId);
  const passedMs = (now % dayMs) - (now % byNowStepMs);
  return (companyId) => {
    const ofDay = hours.get(companyId);
    if (ofDay === undefined) return undefined;
    const sums = { applied: 0, refused: 0 };
    for (const { at, applied, refused } of ofDay) {
      const part = Math.min(1, Math.max(0, (begin + passedMs - at) / hourMs));
      sums.applied += applied * part;
      sums.refused += refused * part;
    }
    return { applied: Math.round(sums.applied), refused: Math.round(sums.refused) };
  };
}

async function deadLettersOf(
  read: Reader,
  companyIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await read
    .selectFrom("outbound_targets")
    .select(({ fn }) => ["company_id", fn.sum<number>("dead_count").as("dead")])
    .where("company_id", "in", [...companyIds])
    .where("dead_count", ">", 0)
    .groupBy("company_id")
    .execute();
  return new Map(rows.map((row) => [row.company_id, Number(row.dead)]));
}

/** Those of the scope; incidents of the installation for operators alone. */
export async function queryStandings(
  { read, now, config }: QueryContext,
  { companies, isOperator }: Scope,
  _asked: object,
): Promise<StoredStandings> {
  const ids = companies.map(({ id }) => id);
  const today = dayOf(now);
  const days = { today: dayText(today), weekBefore: dayText(today - daysOfWeek) };
  const countOf = await countsOf(read, ids, [today, today - daysOfWeek]);
  const byNowOf = await countsByNow(read, ids, { begin: (today - daysOfWeek) * dayMs, now });
  const dead = await deadLettersOf(read, ids);
  const failingOf = await failingPlaces({ read, config });
  // Each by itself: a flood in one company must not hide what is wrong in another.
  const open = Map.groupBy(await listOpenIncidents(read), (incident) => incident.companyId);
  const incidentsOf = (companyId: number) =>
    (open.get(companyId) ?? []).slice(0, mostIncidents).map(shownIncident);
  return {
    companies: companies.map(({ id: companyId, code: companyCode }) => ({
      ...{ companyId, companyCode },
      today: countOf(companyId, today),
      weekBefore: countOf(companyId, today - daysOfWeek),
      weekBeforeByNow: byNowOf(companyId),
      days,
      incidents: incidentsOf(companyId),
      deadLetters: dead.get(companyId) ?? 0,
      failing: failingOf({ id: companyId, code: companyCode }),
      isWatched: isAnybodyTold(config, companyCode),
    })),
    incidents: isOperator ? incidentsOf(operatorId) : [],
  };
}
