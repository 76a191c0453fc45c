/**
 * Tells audiences of incidents: one notice for all that is new, and a delivery of it for each address and service, in the
 * transaction that notes what the audience knows from now on. So no crash loses a notice or sends a second one.
 */
import { alertTargetName, alertWayTo, operatorId, webServiceAddress } from "../../domain/alerts/audience.ts";
import { type Incident, reopenWithinMs, reportedState } from "../../domain/alerts/incident.ts";
import { type NewsItem, writeNotice } from "../../domain/alerts/notice.ts";
import { countNoticeTimes } from "../../store/alerts/alert-notices.ts";
import { listToldReceivers, saveToldReceiver } from "../../store/alerts/incident-receivers.ts";
import {
  listClosedIncidents,
  listOpenIncidents,
  listReports,
  saveReport,
} from "../../store/alerts/incidents.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { findTargetId } from "../../store/outbound/outbound-targets.ts";
import { hourMs } from "../../lib/durations.ts";
import { type Audience, newsOfAudience, type NewsOfReceivers } from "./news-of-audience.ts";
import { sendNotice } from "./send-notice.ts";

export interface ToldAudience extends Audience {
  /** Of the times in mails. */
  readonly zone: string;
  /** At most so many notices an hour; what comes beyond waits, and comes in one. As many again for what is urgent. */
  readonly maxPerHour: number;
}

export interface ReportContext {
  readonly audiences: readonly ToldAudience[];
  /** Milliseconds UTC. */
  readonly now: number;
  /** What this installation is called, and its machine. */
  readonly installation: string;
  readonly machine: string;
  /** The code of a company by its id. */
  readonly codeOf: (companyId: number) => string;
}

/** Longer than any weekend: what opened and closed meanwhile is still told. */
const toldWithinMs = 4 * reopenWithinMs;
const mostClosed = 1_000;

/** Whether the store has the targets of all receivers: it may not yet have those of a configuration that is new. */
async function hasTargets(tx: Transaction, { id, receivers }: Audience): Promise<boolean> {
  for (const way of new Set(receivers.map(alertWayTo))) {
    const target = { companyId: id, name: alertTargetName(way) };
    if ((await findTargetId(tx, target)) === undefined) return false;
  }
  return true;
}

/** Whether something urgent has begun, or has got worse. */
function isPressing({ isUrgent }: Audience, groups: readonly NewsOfReceivers[]): boolean {
  return groups.some((group) =>
    group.news.some(
      ({ news, incident: { companyId, kind } }) =>
        (news === "opened" || news === "reopened" || news === "worse") && isUrgent(companyId, kind),
    ),
  );
}

async function isOverLimit(
  tx: Transaction,
  audience: ToldAudience,
  { groups, now }: { readonly groups: readonly NewsOfReceivers[]; readonly now: number },
): Promise<boolean> {
  const { id, maxPerHour } = audience;
  const sent = await countNoticeTimes(tx, { companyId: id, since: now - hourMs, until: now });
  return sent >= (isPressing(audience, groups) ? 2 * maxPerHour : maxPerHour);
}

/** Whether there are incidents that were closed so lately that somebody may have to be told. */
export async function hasClosedLately(read: Reader, now: number): Promise<boolean> {
  return (await listClosedIncidents(read, { since: now - toldWithinMs, until: now, limit: 1 })).length > 0;
}

/** Sends the notice, and notes who was told by it. */
async function tellReceivers(
  tx: Transaction,
  { audience, group }: { readonly audience: ToldAudience; readonly group: NewsOfReceivers },
  { now, codeOf, installation, machine }: ReportContext,
): Promise<void> {
  const { id: audienceId, zone } = audience;
  const { receivers, news } = group;
  const items = news.map(({ news: kind, incident }) => ({
    news: kind,
    incident: { ...incident, company: codeOf(incident.companyId) },
  }));
  const reader = audienceId === operatorId ? null : codeOf(audienceId);
  const notice = writeNotice(items, { now, zone, installation, machine, reader });
  const noticeId = await sendNotice(tx, { id: audienceId, receivers, notice, now });
  const incidentIds = news.map(({ incident }) => incident.id);
  for (const receiver of receivers) {
    const urlHash = receiver === webServiceAddress ? audience.urlHash : null;
    await saveToldReceiver(tx, incidentIds, { audienceId, receiver, urlHash, noticeId });
  }
}

async function noteTold(
  tx: Transaction,
  news: readonly NewsItem<Incident>[],
  { audienceId, now }: { readonly audienceId: number; readonly now: number },
): Promise<void> {
  for (const { news: kind, incident } of news)
    await saveReport(tx, incident, { audienceId, state: reportedState(kind), now });
}

/** Tells each audience, and each receiver that is new in it, what it does not know yet. */
export async function reportIncidents(tx: Transaction, context: ReportContext): Promise<void> {
  const { audiences, now } = context;
  const closed = await listClosedIncidents(tx, { since: now - toldWithinMs, until: now, limit: mostClosed });
  const incidents = [...(await listOpenIncidents(tx)), ...closed.toReversed()];
  const ids = incidents.map(({ id }) => id);
  const known = { reports: await listReports(tx, ids), told: await listToldReceivers(tx, ids), now };
  for (const audience of audiences) {
    const { news, groups } = newsOfAudience(audience, incidents, known);
    if (news.length === 0 && groups.length === 0) continue;
    if (await isOverLimit(tx, audience, { groups, now })) continue;
    // What could not be sent stays news.
    if (!(await hasTargets(tx, audience))) continue;
    for (const group of groups) await tellReceivers(tx, { audience, group }, context);
    await noteTold(tx, news, { audienceId: audience.id, now });
  }
}
