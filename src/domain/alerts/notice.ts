/** What an audience reads of incidents: a mail, and the same as JSON for web services (docs/alerts.md). */
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import { oneLine, shortened } from "../messages/message-template.ts";
import { localTimeOf } from "../time/zoned-time.ts";
import { alertKind } from "./alert-kinds.ts";
import { operatorCode } from "./audience.ts";
import type { Incident, IncidentNews } from "./incident.ts";

/** An incident with the code of its company. */
export interface NamedIncident extends Incident {
  readonly company: string;
}

export interface NewsItem<OfIncident = NamedIncident> {
  readonly news: IncidentNews;
  readonly incident: OfIncident;
}

export interface Notice {
  /** One line. */
  readonly subject: string;
  readonly text: string;
  /** JSON. */
  readonly body: string;
}

export interface NoticeContext {
  /** Milliseconds UTC. */
  readonly now: number;
  /** Of the times in mails. */
  readonly zone: string;
  /** What this installation is called. */
  readonly installation: string;
}

const longestSubject = 200;
const shownSamples = 5;
const longestSample = 300;

/** Stands before what has happened. */
const prefixes: Readonly<Record<IncidentNews, string>> = {
  opened: "",
  reopened: "again: ",
  worse: "worse: ",
  reminder: "still: ",
  closed: "over: ",
  passed: "over: ",
};

function timeText(at: number, zone: string): string {
  return `${localTimeOf(at, zone).slice(0, 16).replace("T", " ")} (${zone})`;
}

/** The company, or the installation. */
function whose({ company }: NamedIncident, installation: string): string {
  return company === operatorCode ? installation : company;
}

/** The kind of trouble, and of what: `a target takes nothing (tms)`. */
export function incidentTitle({ kind, cause }: Pick<Incident, "kind" | "cause">): string {
  return `${alertKind(kind).title}${cause === "" ? "" : ` (${cause})`}`;
}

/** What to do about it. */
export function incidentRemedy({ kind, remedy }: Pick<Incident, "kind" | "remedy">): string {
  return remedy === "" ? alertKind(kind).remedy : remedy;
}

function isOver({ closedAt }: Pick<Incident, "closedAt">): boolean {
  return closedAt !== null;
}

function linesOf({ news, incident }: NewsItem, { zone, installation }: NoticeContext): readonly string[] {
  const { kind, summary, openedAt, seenAt, count, samples } = incident;
  const said = isOver(incident) ? `${alertKind(kind).closed}. It was: ${summary}` : summary;
  const shown = samples
    .slice(0, shownSamples)
    .map((sample) => `  - ${shortened(oneLine(sample), longestSample)}`);
  return [
    `${prefixes[news]}${whose(incident, installation)}: ${oneLine(incidentTitle(incident))}`,
    "",
    `${oneLine(said.charAt(0).toUpperCase() + said.slice(1))}.`,
    `Since:    ${timeText(openedAt, zone)}`,
    ...(isOver(incident) ? [`Last:     ${timeText(seenAt, zone)}`] : []),
    `How many: ${count}`,
    ...(shown.length === 0 ? [] : ["Examples:", ...shown]),
    ...(isOver(incident) ? [] : [`What to do: ${oneLine(incidentRemedy(incident))}.`]),
  ];
}

const urgencyOfNews: readonly IncidentNews[] = [
  "opened",
  "worse",
  "reopened",
  "reminder",
  "closed",
  "passed",
];

function subjectOf(items: readonly NewsItem[], { zone, installation }: NoticeContext): string {
  const [first] = items;
  if (first === undefined) throw new Error("a notice tells something");
  const { news, incident } = first;
  const [where, title] = [whose(incident, installation), incidentTitle(incident)];
  const rest = items.length === 1 ? "" : `, and ${items.length - 1} more`;
  const subject = `${prefixes[news]}${where}: ${title}, since ${timeText(incident.openedAt, zone)}${rest}`;
  return shortened(oneLine(`[dropgate ${installation}] ${subject}`), longestSubject);
}

function jsonOf({ news, incident }: NewsItem) {
  const { id, kind, company, cause, summary, openedAt, seenAt, closedAt, count, samples } = incident;
  return {
    news,
    incident: id,
    kind,
    company: company === operatorCode ? null : company,
    cause,
    title: incidentTitle(incident),
    summary,
    since: isoTime(openedAt),
    last: isoTime(seenAt),
    closed: isoOrNull(closedAt),
    count,
    samples,
    remedy: incidentRemedy(incident),
  };
}

/** The notice of all that is new to an audience, what is worst first. At least one. */
export function writeNotice(news: readonly NewsItem[], context: NoticeContext): Notice {
  const rank = ({ news: kind, incident }: NewsItem) =>
    2 * urgencyOfNews.indexOf(kind) + (alertKind(incident.kind).isUrgent ? 0 : 1);
  const items = news.toSorted((one, other) => rank(one) - rank(other));
  const text = [
    items.map((item) => linesOf(item, context).join("\n")).join("\n\n----\n\n"),
    "",
    `\`dropgate alerts\` on ${context.installation} lists all that is open; docs/alerts.md says more.`,
  ].join("\n");
  const body = {
    type: "dropgate.alerts",
    version: 1,
    installation: context.installation,
    at: isoTime(context.now),
    alerts: items.map(jsonOf),
  };
  return { subject: subjectOf(items, context), text, body: `${JSON.stringify(body)}\n` };
}

/** What a test says: that it would be an alert, and nothing is wrong. */
export function writeTestNotice({ now, zone, installation }: NoticeContext): Notice {
  const said = "This is a test of alerts. Nothing is wrong.";
  const text = `${said}\n\nIt was asked for by \`dropgate alert test\` on ${installation}, ${timeText(now, zone)}.`;
  const body = { type: "dropgate.test", version: 1, installation, at: isoTime(now), alerts: [] };
  return {
    subject: oneLine(`[dropgate ${installation}] test of alerts`),
    text,
    body: `${JSON.stringify(body)}\n`,
  };
}
