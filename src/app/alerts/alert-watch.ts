/**
 * Looks each minute (`alerts.checkEveryMs`) for what is wrong, and tells it (docs/alerts.md).
 *
 *   detectors ──findings──> incidents ──news──> notices ──> deliveries, one for each address and service
 *                └───────────────── one transaction ─────────────────┘
 *
 * A crash before the commit has changed nothing, and one after it has left the deliveries in the queue. Nothing is looked
 * for while nobody is to be told.
 */
import { hostname } from "node:os";
import { setImmediate } from "node:timers/promises";
import {
  alertKindSettingsOf,
  alertReceiversOf,
  alertWaysOf,
  audienceSettingsOf,
  isKindWatched,
  webServiceHashOf,
} from "../../config/alert-settings.ts";
import type { Config } from "../../config/schema.ts";
import { type AlertKindName, alertKindNames } from "../../domain/alerts/alert-kinds.ts";
import { operatorCode, operatorId } from "../../domain/alerts/audience.ts";
import type { Finding, Incident } from "../../domain/alerts/incident.ts";
import { isQuietAt } from "../../domain/alerts/quiet-times.ts";
import type { Clock } from "../../lib/clock.ts";
import { lookEachMinute, type MinuteLooks } from "../../lib/every-minute.ts";
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Service } from "../../lib/service.ts";
import { type IncidentChange, type LookedAt, noteFindings } from "../../operations/alerts/note-findings.ts";
import {
  hasClosedLately,
  reportIncidents,
  type ToldAudience,
} from "../../operations/alerts/report-incidents.ts";
import { listOpenIncidents } from "../../store/alerts/incidents.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import type { AlertSources, Detector, Detectors } from "./detector.ts";
import { hourMs } from "../../lib/durations.ts";

export interface AlertWatchDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sources: AlertSources;
  readonly detectors: Detectors;
  /** Calls `look` again and again until it is stopped; by default each `alerts.checkEveryMs`. */
  readonly trigger?: (look: () => void) => { stop(): void };
  /**
   * Whether this node looks for incidents of the company, 0 being those of no company; it knows best what it works on. Who has
   * those of no company tells of all. Default: all.
   */
  readonly isOurs?: (companyId: number) => boolean;
}

interface Subject {
  readonly id: number;
  readonly code: string;
}

const operator: Subject = { id: operatorId, code: operatorCode };

function repeatedly(everyMs: () => number): (look: () => void) => { stop(): void } {
  return (look) => {
    let timer: NodeJS.Timeout;
    const next = () => {
      timer = setTimeout(() => {
        look();
        next();
      }, everyMs());
      timer.unref();
    };
    next();
    return { stop: () => clearTimeout(timer) };
  };
}

/** Those who are told of anything, as the configuration has them at this moment. */
function audiencesOf(config: Config, subjects: readonly Subject[], now: number): readonly ToldAudience[] {
  const { maxPerHour, remindAfterHours, ofCompanies } = config.alerts;
  const codes = new Map(subjects.map(({ id, code }) => [id, code]));
  return subjects.flatMap(({ id, code }) => {
    const settings = audienceSettingsOf(config, code);
    if (settings === undefined || alertWaysOf(config, code).length === 0) return [];
    const { quietHours, zone } = settings;
    const receivers = alertReceiversOf(config, code);
    const isTold = (companyId: number, kind: AlertKindName) => {
      const of = codes.get(companyId);
      const isIts = companyId === id || (id === operatorId && ofCompanies);
      return of !== undefined && isIts && isKindWatched(config, of, kind);
    };
    return {
      ...{
        id,
        receivers,
        urlHash: webServiceHashOf(config, code),
        zone,
        maxPerHour,
        remindAfterMs: remindAfterHours * hourMs,
        isTold,
      },
      isQuiet: isQuietAt(now, quietHours, zone),
      isUrgent: (companyId: number, kind: AlertKindName) =>
        alertKindSettingsOf(config, codes.get(companyId) ?? operatorCode, kind).urgent,
    };
  });
}

function countByKind(incidents: readonly Incident[]): ReadonlyMap<AlertKindName, number> {
  const counts = new Map<AlertKindName, number>();
  for (const { kind } of incidents) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

function findingsOf<Name extends AlertKindName>(
  { store, sources, detectors }: AlertWatchDeps,
  kind: Name,
  looking: { readonly subject: Subject; readonly now: number; readonly open: readonly Incident[] },
): Promise<readonly Finding[]> {
  const { subject, now, open } = looking;
  const own = open.filter((incident) => incident.kind === kind && incident.companyId === subject.id);
  const detect: Detector<Name> = detectors[kind];
  return detect({
    ...{ subject, now, sources, read: store.read },
    settings: alertKindSettingsOf(sources.config(), subject.code, kind),
    open: new Map(own.map((incident) => [incident.cause, incident])),
  });
}

/** What a scan sees. */
interface Seen {
  /** The operator first. */
  readonly subjects: readonly Subject[];
  /** Incidents that were open before it. */
  readonly open: readonly Incident[];
  readonly found: readonly LookedAt[];
}

/** Opens and closes incidents, and puts what is to be told of them in the queue: all of it, or nothing. */
async function writeSeen(
  { store, clock, sources, isOurs = () => true }: AlertWatchDeps,
  { subjects, found }: Seen,
): Promise<readonly IncidentChange[]> {
  const config = sources.config();
  const now = clock.now();
  const codes = new Map(subjects.map(({ id, code }) => [id, code]));
  const codeOf = (companyId: number) => codes.get(companyId) ?? operatorCode;
  const machine = hostname();
  const { closeAfterMs, installation = machine } = config.alerts;
  const noting = {
    ...{ now, closeAfterMs },
    isWatched: (companyId: number, kind: AlertKindName) => isKindWatched(config, codeOf(companyId), kind),
  };
  const reporting = { audiences: audiencesOf(config, subjects, now), now, codeOf, installation, machine };
  return await store.write("site", async (tx) => {
    const changes = await noteFindings(
      tx,
      found.filter(({ companyId }) => isOurs(companyId)),
      noting,
    );
    if (isOurs(operatorId)) await reportIncidents(tx, reporting);
    return changes;
  });
}

/** The watch; it looks from its start on. */
export class AlertWatch implements Service {
  readonly name = "alerts";
  readonly #deps: AlertWatchDeps;
  readonly #looks: MinuteLooks;
  /** Kinds that could not be looked for, with the company: the log tells that once. */
  readonly #blind = new Set<string>();
  #counts: ReadonlyMap<AlertKindName, number> = new Map();

  constructor(deps: AlertWatchDeps) {
    this.#deps = deps;
    const { log, sources, trigger = repeatedly(() => sources.config().alerts.checkEveryMs) } = deps;
    const tryTo = loggingFirstFailure(log, "incidents could not be written; retrying");
    this.#looks = lookEachMinute("alerts", () => tryTo(() => this.#lookOnce()), trigger);
  }

  async start(): Promise<void> {
    this.#counts = countByKind(await listOpenIncidents(this.#deps.store.read));
    this.#looks.begin();
  }

  stop(): Promise<void> {
    return this.#looks.end();
  }

  /** Resolves when all that is new is in the queue. Never rejects. */
  look(): Promise<void> {
    return this.#looks.look();
  }

  /** Open incidents by their kinds, as the last look has left them. */
  openCounts(): ReadonlyMap<AlertKindName, number> {
    return this.#counts;
  }

  async #lookOnce(): Promise<void> {
    const { read } = this.#deps.store;
    const seen = await this.#scan();
    if (await this.#isNews(seen)) this.#log(await writeSeen(this.#deps, seen), seen);
    this.#counts = countByKind(await listOpenIncidents(read));
  }

  async #scan(): Promise<Seen> {
    const { read } = this.#deps.store;
    const subjects = [operator, ...(await listCompanies(read))];
    const open = await listOpenIncidents(read);
    const found: LookedAt[] = [];
    for (const kind of alertKindNames) found.push(...(await this.#scanFor(kind, subjects, open)));
    return { subjects, open, found };
  }

  async #scanFor(kind: AlertKindName, subjects: readonly Subject[], open: readonly Incident[]) {
    const { sources, clock, log, isOurs = () => true } = this.#deps;
    const found: LookedAt[] = [];
    for (const subject of subjects) {
      if (!isOurs(subject.id) || !isKindWatched(sources.config(), subject.code, kind)) continue;
      const company = subject.code;
      const key = `${kind} ${company}`;
      try {
        const findings = await findingsOf(this.#deps, kind, { subject, open, now: clock.now() });
        found.push({ companyId: subject.id, kind, findings });
        this.#blind.delete(key);
      } catch (error) {
        if (!this.#blind.has(key))
          log.error({ err: error, kind, company }, "incidents of a kind cannot be looked for; retrying");
        this.#blind.add(key);
      }
      // Queries answer at once: files and connections must not wait for a scan of hundreds of companies.
      await setImmediate();
    }
    return found;
  }

  /** Whether there is anything to write or to tell: most scans find nothing. */
  async #isNews({ open, found }: Seen): Promise<boolean> {
    if (open.length > 0 || found.some(({ findings }) => findings.length > 0)) return true;
    const { store, clock } = this.#deps;
    return await hasClosedLately(store.read, clock.now());
  }

  #log(changes: readonly IncidentChange[], { subjects }: Seen): void {
    const codes = new Map(subjects.map(({ id, code }) => [id, code]));
    for (const { change, companyId, ...incident } of changes) {
      const company = companyId === operatorId ? {} : { company: codes.get(companyId) };
      this.#deps.log[change === "closed" ? "info" : "warn"](
        { ...company, ...incident },
        `incident ${change}`,
      );
    }
  }
}
