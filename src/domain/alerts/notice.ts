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
  /** The name of the machine, where commands are given. */
  readonly machine: string;
  /** The code of the company whose own people read it, who cannot sign in to the machine; null for the operator. */
  readonly reader: string | null;
}

const longestSubject = 200;
const shownSamples = 5;
const longestSample = 300;
/** What comes after so many is told in a line each, and after so many lines only counted: people read mails. */
const mostAtLength = 20;
const mostLines = 200;

/** Stands before what has happened. */
const prefixes: Readonly<Record<IncidentNews, string>> = {
  opened: "",
  reopened: "again: ",
  worse: "worse: ",
  reminder: "still: ",
  closed: "over: ",
  passed: "over: ",
};

function minuteText(at: number, zone: string): string {
  return localTimeOf(at, zone).slice(0, 16).replace("T", " ");
}

function timeText(at: number, zone: string): string {
  return `${minuteText(at, zone)} (${zone})`;
}

const isoTimes = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;

/** One line, with its times by the clocks of the zone. */
function localLine(text: string, zone: string, textOf = timeText): string {
  return oneLine(text).replaceAll(isoTimes, (iso) => textOf(Date.parse(iso), zone));
}

/** The company, or the installation. */
function whose({ company }: NamedIncident, installation: string): string {
  return company === operatorCode ? installation : company;
}

/** The kind of trouble, and of what: `a target takes nothing (tms)`. */
export function incidentTitle({ kind, cause }: Pick<Incident, "kind" | "cause">): string {
  const { title, causes = {} } = alertKind(kind);
  return `${title}${cause === "" ? "" : ` (${causes[cause] ?? cause})`}`;
}

/** What the operator can do about it. */
export function incidentRemedy({ kind, remedy }: Pick<Incident, "kind" | "remedy">): string {
  return remedy === "" ? alertKind(kind).remedy : remedy;
}

function isOver({ closedAt }: Pick<Incident, "closedAt">): boolean {
  return closedAt !== null;
}

/** What its readers can do about it; those of a company also, what to tell the operator. */
function remedyFor(incident: NamedIncident, { reader, installation, machine }: NoticeContext): string {
  const kind = alertKind(incident.kind);
  if (reader === null || kind.scope === "operator") return incidentRemedy(incident);
  if (isOver(incident)) return kind.companyRemedy;
  const call = `When you need the operator of ${nameOf(installation)}, name incident ${incident.id}`;
  return `${kind.companyRemedy}. ${call}: they run \`dropgate alerts --company ${reader}\` on ${machine}`;
}

function headline({ news, incident }: NewsItem, { installation }: NoticeContext): string {
  return `${prefixes[news]}${whose(incident, installation)}: ${oneLine(incidentTitle(incident))}`;
}

function linesOf(item: NewsItem, context: NoticeContext): readonly string[] {
  const { incident } = item;
  const { zone } = context;
  const { kind, summary, openedAt, seenAt, count, samples } = incident;
  const { closed, isForecast = false } = alertKind(kind);
  const said = isOver(incident) ? `${closed}. It was: ${summary}` : summary;
  const shown = samples
    .slice(0, shownSamples)
    .map((sample) => `  - ${shortened(localLine(sample, zone, minuteText), longestSample)}`);
  return [
    headline(item, context),
    "",
    `${localLine(said.charAt(0).toUpperCase() + said.slice(1), zone)}.`,
    `${(isForecast ? "Noticed:" : "Since:").padEnd(10)}${timeText(openedAt, zone)}`,
    ...(isOver(incident) ? [`Last:     ${timeText(seenAt, zone)}`] : []),
    ...(count > 1 ? [`How many: ${count}`] : []),
    ...(shown.length === 0 ? [] : [shown.length > 1 ? "Examples:" : "Details:", ...shown]),
    ...(isOver(incident) ? [] : [`What to do: ${oneLine(remedyFor(incident, context))}.`]),
  ];
}

/** What is not told at length: a line each, and how many more. */
function shortLines(items: readonly NewsItem[], context: NoticeContext): readonly string[] {
  if (items.length === 0) return [];
  const more = items.length - mostLines;
  return [
    "",
    "----",
    "",
    `And ${items.length} more:`,
    ...items.slice(0, mostLines).map((item) => {
      const since = timeText(item.incident.openedAt, context.zone);
      return `  - ${headline(item, context)}, since ${since}`;
    }),
    ...(more > 0 ? [`  - and ${more} more than these`] : []),
  ];
}

/** What is new first, then what lasts, then what is over. */
const ranks: Readonly<Record<IncidentNews, number>> = {
  ...{ opened: 0, worse: 0, reopened: 0, reminder: 1, closed: 2, passed: 2 },
};

/** Filters of mail look for the word dropgate; an installation may have it in its name. */
function nameOf(installation: string): string {
  return /^dropgate\b/i.test(installation) ? installation : `dropgate ${installation}`;
}

function subjectOf(items: readonly NewsItem[], context: NoticeContext): string {
  const { zone, installation } = context;
  const [first] = items;
  if (first === undefined) throw new Error("a notice tells something");
  const { kind, openedAt } = first.incident;
  const since = alertKind(kind).isForecast === true ? "" : `, since ${timeText(openedAt, zone)}`;
  const rest = items.length === 1 ? "" : `, and ${items.length - 1} more`;
  const subject = `${headline(first, context)}${since}${rest}`;
  return shortened(oneLine(`[${nameOf(installation)}] ${subject}`), longestSubject);
}

function jsonOf({ news, incident }: NewsItem, context: NoticeContext) {
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
    remedy: remedyFor(incident, context),
  };
}

/** Where there is more to read. */
function lastLine({ reader, installation, machine }: NoticeContext): string {
  if (reader === null)
    return `\`dropgate alerts\` on ${machine} lists all that is open; docs/alerts.md says more.`;
  return `This mail goes to the people of ${reader}; for questions ask the operator of ${nameOf(installation)}.`;
}

/** The notice of all that is new to an audience, what is new and urgent first. At least one. */
export function writeNotice(news: readonly NewsItem[], context: NoticeContext): Notice {
  const rank = ({ news: kind, incident }: NewsItem) =>
    2 * ranks[kind] + (alertKind(incident.kind).isUrgent ? 0 : 1);
  const items = news.toSorted(
    (one, other) => rank(one) - rank(other) || other.incident.level - one.incident.level,
  );
  const atLength = items.slice(0, mostAtLength).map((item) => linesOf(item, context).join("\n"));
  const text = [
    atLength.join("\n\n----\n\n"),
    ...shortLines(items.slice(mostAtLength), context),
    "",
    lastLine(context),
  ].join("\n");
  const body = {
    type: "dropgate.alerts",
    version: 1,
    installation: context.installation,
    at: isoTime(context.now),
    alerts: items.map((item) => jsonOf(item, context)),
  };
  return { subject: subjectOf(items, context), text, body: `${JSON.stringify(body)}\n` };
}

/** What a test says: that it would be an alert, and nothing is wrong. */
export function writeTestNotice({ now, zone, installation, machine }: Omit<NoticeContext, "reader">): Notice {
  const said = "This is a test of alerts. Nothing is wrong.";
  const text = `${said}\n\nIt was asked for by \`dropgate alert test\` on ${machine}, ${timeText(now, zone)}.`;
  const body = { type: "dropgate.test", version: 1, installation, at: isoTime(now), alerts: [] };
  return {
    subject: oneLine(`[${nameOf(installation)}] test of alerts`),
    text,
    body: `${JSON.stringify(body)}\n`,
  };
}
