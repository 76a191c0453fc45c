/**
 * What the receivers of an audience do not know yet. The audience as a whole is told by `newsOf`; a receiver that was not
 * told of an incident of which others were, as its address is new, is told of it as one that has opened.
 */
import { type AlertKindName, alertKind } from "../../domain/alerts/alert-kinds.ts";
import { webServiceAddress } from "../../domain/alerts/audience.ts";
import { type Incident, type IncidentNews, newsOf } from "../../domain/alerts/incident.ts";
import type { NewsItem } from "../../domain/alerts/notice.ts";
import { notConfiguredFault } from "../../domain/outbound/delivery-state.ts";
import type { ToldReceiver } from "../../store/alerts/incident-receivers.ts";
import type { listReports } from "../../store/alerts/incidents.ts";

export interface Audience {
  /** The company, or `operatorId`. */
  readonly id: number;
  /** E-mail addresses, and `webServiceAddress`. */
  readonly receivers: readonly string[];
  /** Tells the URL of its web service from another; null without one. */
  readonly urlHash: string | null;
  readonly remindAfterMs: number;
  readonly isQuiet: boolean;
  /** Whether it is told of incidents of this kind in that company. */
  readonly isTold: (companyId: number, kind: AlertKindName) => boolean;
  /** Whether quiet hours do not hold that back. */
  readonly isUrgent: (companyId: number, kind: AlertKindName) => boolean;
}

export interface KnownNews {
  /** What audiences were told of the incidents, and which of their receivers. */
  readonly reports: Awaited<ReturnType<typeof listReports>>;
  readonly told: readonly ToldReceiver[];
  /** Milliseconds UTC. */
  readonly now: number;
}

/** Receivers that are told the same. */
export interface NewsOfReceivers {
  readonly receivers: readonly string[];
  readonly news: readonly NewsItem<Incident>[];
}

export interface NewsOfAudience {
  /** What the audience is told of, whoever is new in it. */
  readonly news: readonly NewsItem<Incident>[];
  /** Each receiver at most once. */
  readonly groups: readonly NewsOfReceivers[];
}

interface Standing {
  readonly incident: Incident;
  /** Of the audience. */
  readonly news: IncidentNews | undefined;
  readonly wasTold: boolean;
  /** Whether that is worth a mail of its own; web services get all. */
  readonly isMailed: boolean;
}

function standingsOf(
  audience: Audience,
  incidents: readonly Incident[],
  { reports, now }: KnownNews,
  remindAfterMs: number,
): readonly Standing[] {
  return incidents.flatMap((incident) => {
    const { id, companyId, kind } = incident;
    if (!audience.isTold(companyId, kind)) return [];
    if (audience.isQuiet && !audience.isUrgent(companyId, kind)) return [];
    const { isReminded = true, isMailedTwice = false } = alertKind(kind);
    const last = reports.get(id)?.get(audience.id);
    const news = newsOf(incident, last, { now, remindAfterMs: isReminded ? remindAfterMs : undefined });
    const isMailed = !(isMailedTwice && news === "closed" && last?.state === "worse");
    return { incident, news, wasTold: last !== undefined, isMailed };
  });
}

/** Whether the receiver has the notice by which it was told, or will. */
function hasIt({ receiver, urlHash, state, fault }: ToldReceiver, audience: Audience): boolean {
  if (state === "dropped" && fault === notConfiguredFault) return false;
  return receiver !== webServiceAddress || urlHash === audience.urlHash;
}

/** What a receiver is told of an incident that others of its audience were told of, and it was not. */
function newsOfLatecomer({ incident, news }: Standing): IncidentNews | undefined {
  if (incident.closedAt === null) return "opened";
  return news === undefined ? undefined : "passed";
}

function newsFor(
  receiver: string,
  standings: readonly Standing[],
  knows: (incident: Incident, receiver: string) => boolean,
): readonly NewsItem<Incident>[] {
  const items = standings.flatMap((standing) => {
    const { incident, wasTold, isMailed } = standing;
    const news = wasTold && !knows(incident, receiver) ? newsOfLatecomer(standing) : standing.news;
    return news === undefined ? [] : [{ incident, news, isMailed }];
  });
  const isSent = receiver === webServiceAddress || items.some(({ isMailed }) => isMailed);
  return isSent ? items.map(({ incident, news }) => ({ incident, news })) : [];
}

function grouped(
  receivers: readonly string[],
  newsTo: (receiver: string) => readonly NewsItem<Incident>[],
): readonly NewsOfReceivers[] {
  const groups = new Map<string, { receivers: string[]; news: readonly NewsItem<Incident>[] }>();
  for (const receiver of receivers) {
    const news = newsTo(receiver);
    if (news.length === 0) continue;
    const key = JSON.stringify(news.map(({ incident, news: kind }) => [incident.id, kind]));
    const group = groups.get(key) ?? { receivers: [], news };
    groups.set(key, group);
    group.receivers.push(receiver);
  }
  return [...groups.values()];
}

/** What there is to tell the audience and its receivers of these incidents now. */
export function newsOfAudience(
  audience: Audience,
  incidents: readonly Incident[],
  known: KnownNews,
): NewsOfAudience {
  const { remindAfterMs } = audience;
  const due = standingsOf(audience, incidents, known, remindAfterMs);
  const isReminded = due.some(({ news }) => news === "reminder");
  // Whoever is reminded of one is reminded of all, unless that was done lately: one mail a day, and not one for each.
  const standings = isReminded ? standingsOf(audience, incidents, known, remindAfterMs / 2) : due;
  const own = known.told.filter((one) => one.audienceId === audience.id && hasIt(one, audience));
  const told = new Set(own.map(({ incidentId, receiver }) => `${incidentId} ${receiver}`));
  const knows = ({ id }: Incident, receiver: string) => told.has(`${id} ${receiver}`);
  return {
    news: standings.flatMap(({ incident, news }) => (news === undefined ? [] : [{ incident, news }])),
    groups: grouped(audience.receivers, (receiver) => newsFor(receiver, standings, knows)),
  };
}
