/**
 * Tells audiences of incidents: one notice for all that is new, and a delivery of it for each address and service, in the
 * transaction that notes what the audience knows from now on. So no crash loses a notice or sends a second one.
 */
import { type AlertKindName, alertKind } from "../../domain/alerts/alert-kinds.ts";
import { alertTargetName, alertWayTo, webServiceAddress } from "../../domain/alerts/audience.ts";
import { type Incident, newsOf, reopenWithinMs, reportedState } from "../../domain/alerts/incident.ts";
import { type NewsItem, type Notice, writeNotice } from "../../domain/alerts/notice.ts";
import { countNotices, insertNotice } from "../../store/alerts/alert-notices.ts";
import {
  listClosedIncidents,
  listOpenIncidents,
  listReports,
  saveReport,
} from "../../store/alerts/incidents.ts";
import { isoTime } from "../../lib/iso-time.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/group-commit.ts";
import { addDelivery } from "../../store/outbound/deliveries.ts";
import { findTargetId } from "../../store/outbound/outbound-targets.ts";
import { hourMs } from "../../lib/durations.ts";

export interface Audience {
  /** The company, or `operatorId`. */
  readonly id: number;
  /** E-mail addresses, and `webServiceAddress`. */
  readonly receivers: readonly string[];
  /** Of the times in mails. */
  readonly zone: string;
  /** At most so many notices an hour; what comes beyond waits, and comes in one. */
  readonly maxPerHour: number;
  readonly remindAfterMs: number;
  readonly isQuiet: boolean;
  /** Whether it is told of incidents of this kind in that company. */
  readonly isTold: (companyId: number, kind: AlertKindName) => boolean;
  /** Whether quiet hours do not hold that back. */
  readonly isUrgent: (companyId: number, kind: AlertKindName) => boolean;
}

export interface ReportContext {
  readonly audiences: readonly Audience[];
  /** Milliseconds UTC. */
  readonly now: number;
  /** What this installation is called. */
  readonly installation: string;
  /** The code of a company by its id. */
  readonly codeOf: (companyId: number) => string;
}

/** Longer than any weekend: what opened and closed meanwhile is still told. */
const toldWithinMs = 4 * reopenWithinMs;
const mostClosed = 1_000;

/** Puts a notice to an audience in the queue; returns its number. */
export async function sendNotice(
  tx: Transaction,
  { id: companyId, receivers }: Pick<Audience, "id" | "receivers">,
  notice: Notice,
  now: number,
): Promise<number> {
  const second = isoTime(now).slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "_");
  const name = `alert_${second}.json`;
  const subjectId = await insertNotice(tx, { companyId, ...notice, createdAt: now });
  for (const orderKey of receivers) {
    const targetName = alertTargetName(alertWayTo(orderKey));
    const targetId = await findTargetId(tx, { companyId, name: targetName });
    if (targetId === undefined) continue;
    await addDelivery(tx, { companyId, targetId, kind: "alert", subjectId, orderKey, name, now });
  }
  return subjectId;
}

/** Whether the store has the targets of all receivers: it may not yet have those of a configuration that is new. */
async function hasTargets(tx: Transaction, { id, receivers }: Audience): Promise<boolean> {
  for (const way of new Set(receivers.map(alertWayTo))) {
    const target = { companyId: id, name: alertTargetName(way) };
    if ((await findTargetId(tx, target)) === undefined) return false;
  }
  return true;
}

async function isOverLimit(tx: Transaction, { id, maxPerHour }: Audience, now: number): Promise<boolean> {
  return (await countNotices(tx, { companyId: id, since: now - hourMs, until: now })) >= maxPerHour;
}

/** Whether there are incidents that were closed so lately that somebody may have to be told. */
export async function hasClosedLately(read: Reader, now: number): Promise<boolean> {
  return (await listClosedIncidents(read, { since: now - toldWithinMs, until: now, limit: 1 })).length > 0;
}

type Reports = Awaited<ReturnType<typeof listReports>>;

interface News extends NewsItem<Incident> {
  /** Whether it is worth a mail of its own; web services get all. */
  readonly isMailed: boolean;
}

function newsFor(
  audience: Audience,
  incidents: readonly Incident[],
  { reports, now }: { readonly reports: Reports; readonly now: number },
): readonly News[] {
  return incidents.flatMap((incident) => {
    const { id, companyId, kind } = incident;
    if (!audience.isTold(companyId, kind)) return [];
    if (audience.isQuiet && !audience.isUrgent(companyId, kind)) return [];
    const { isReminded = true, isMailedTwice = false } = alertKind(kind);
    const remindAfterMs = isReminded ? audience.remindAfterMs : undefined;
    const last = reports.get(id)?.get(audience.id);
    const news = newsOf(incident, last, { now, remindAfterMs });
    if (news === undefined) return [];
    return [{ news, incident, isMailed: !(isMailedTwice && news === "closed" && last?.state === "worse") }];
  });
}

function receiversOf({ receivers }: Audience, news: readonly News[]): readonly string[] {
  const isMailed = news.some((item) => item.isMailed);
  return isMailed ? receivers : receivers.filter((receiver) => receiver === webServiceAddress);
}

/** Tells each audience what it does not know yet; returns how many notices that made. */
export async function reportIncidents(tx: Transaction, context: ReportContext): Promise<number> {
  const { audiences, now, codeOf, installation } = context;
  const closed = await listClosedIncidents(tx, { since: now - toldWithinMs, until: now, limit: mostClosed });
  const incidents = [...(await listOpenIncidents(tx)), ...closed.toReversed()];
  const ids = incidents.map(({ id }) => id);
  const reports = await listReports(tx, ids);
  let notices = 0;
  for (const audience of audiences) {
    const news = newsFor(audience, incidents, { reports, now });
    if (news.length === 0 || (await isOverLimit(tx, audience, now))) continue;
    // What could not be sent stays news.
    if (!(await hasTargets(tx, audience))) continue;
    const items = news.map(({ news: kind, incident }) => ({
      news: kind,
      incident: { ...incident, company: codeOf(incident.companyId) },
    }));
    const receivers = receiversOf(audience, news);
    if (receivers.length > 0) {
      const notice = writeNotice(items, { now, zone: audience.zone, installation });
      await sendNotice(tx, { id: audience.id, receivers }, notice, now);
      notices += 1;
    }
    for (const { news: kind, incident } of news)
      await saveReport(tx, incident, { audienceId: audience.id, state: reportedState(kind), now });
  }
  return notices;
}
