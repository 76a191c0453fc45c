/** Incidents, as the commands of an administrator list them, and a test of the ways on which they are told. */
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { alertReceiversOf, audienceSettingsOf } from "../../config/alert-settings.ts";
import type { Config } from "../../config/schema.ts";
import { operatorCode, operatorId } from "../../domain/alerts/audience.ts";
import type { Incident } from "../../domain/alerts/incident.ts";
import { incidentRemedy, incidentTitle, writeTestNotice } from "../../domain/alerts/notice.ts";
import { systemClock } from "../../lib/clock.ts";
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import { sendNotice } from "../../operations/alerts/send-notice.ts";
import { listNoticeDeliveries, type NoticeDelivery } from "../../store/alerts/alert-notices.ts";
import {
  type ClosedPlace,
  countClosedIncidents,
  findIncident,
  listClosedIncidents,
  listOpenIncidents,
} from "../../store/alerts/incidents.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import type { Reader } from "../../store/database/database.ts";
import { companyFilter } from "./admin.ts";
import {
  type AdminStore,
  type CutList,
  cutAt,
  type Page,
  type StateConfig,
  withAdminStore,
} from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";
import { areRunning, findRunningDaemons } from "./running-daemons.ts";

/** An incident as commands show it; times are ISO, UTC. */
export type IncidentView = Readonly<ReturnType<typeof toView>>;

function toView(incident: Incident, company: string | null) {
  const { id, kind, cause, summary, openedAt, seenAt, closedAt, reopened, count, samples } = incident;
  return {
    id,
    /** Null: of the whole installation. */
    company,
    kind,
    cause,
    title: incidentTitle(incident),
    summary,
    count,
    samples,
    since: isoTime(openedAt),
    lastSeen: isoTime(seenAt),
    closedAt: isoOrNull(closedAt),
    reopened,
    remedy: incidentRemedy(incident),
  };
}

export interface IncidentSelection {
  readonly company?: string;
  /** Closed ones too. */
  readonly all?: true;
}

async function listOpenOf(read: Reader, companyId: number | undefined): Promise<readonly Incident[]> {
  const open = await listOpenIncidents(read);
  return companyId === undefined ? open : open.filter((incident) => incident.companyId === companyId);
}

/** The place in the list of closed incidents of the one behind which a page begins. */
async function placeOf(read: Reader, id: number): Promise<ClosedPlace> {
  const incident = await findIncident(read, id);
  if (incident?.closedAt != null) return { id, closedAt: incident.closedAt };
  const what = incident === undefined ? `there is no incident ${id}` : `the incident ${id} is open`;
  throw new WrongUseError(
    `--before: ${what}; give the last number of the page before, which \`dropgate alerts --all\` has printed`,
  );
}

/**
 * The open incidents, oldest first; with `all` closed ones after them, newest first, so many as the page takes. Behind
 * another (`before`) there are closed ones alone.
 */
export async function listIncidents(
  config: StateConfig,
  { company, all }: IncidentSelection,
  { limit, before }: Page,
): Promise<CutList<IncidentView>> {
  return await withAdminStore(config, async ({ read }) => {
    const { companyId } = await companyFilter({ read }, company);
    const codes = new Map((await listCompanies(read)).map(({ id, code }) => [id, code]));
    const view = (incident: Incident) => toView(incident, codes.get(incident.companyId) ?? null);
    if (before !== undefined && all !== true)
      throw new WrongUseError("--before is for closed incidents: give --all too");
    const open = before === undefined ? (await listOpenOf(read, companyId)).map(view) : [];
    if (all !== true) return { items: open, isCut: false };
    const behind = before === undefined ? undefined : await placeOf(read, before);
    const rows = await listClosedIncidents(read, { since: 0, companyId, behind, limit: limit + 1 });
    const { items, isCut } = cutAt(limit, rows, view);
    return { items: [...open, ...items], isCut };
  });
}

/** How many incidents are open; with `all` how many there are. */
export async function countIncidents(
  config: StateConfig,
  { company, all }: IncidentSelection,
): Promise<number> {
  return await withAdminStore(config, async ({ read }) => {
    const { companyId } = await companyFilter({ read }, company);
    const closed = all === true ? await countClosedIncidents(read, companyId) : 0;
    return (await listOpenOf(read, companyId)).length + closed;
  });
}

/** What became of the test at one address or service. */
export interface TestOutcome {
  readonly company: string | null;
  readonly receiver: string;
  readonly delivery: number;
  readonly state: NoticeDelivery["state"];
  readonly fault: string | null;
  readonly message: string | null;
}

interface TestAudience {
  readonly id: number;
  readonly code: string;
}

async function audiencesToTest(
  store: AdminStore,
  config: Config,
  company: string | undefined,
): Promise<readonly TestAudience[]> {
  const { companyId } = await companyFilter(store, company);
  const all = [{ id: operatorId, code: operatorCode }, ...(await listCompanies(store.read))];
  const wanted = companyId === undefined ? all : all.filter(({ id }) => id === companyId);
  const told = wanted.filter(({ code }) => alertReceiversOf(config, code).length > 0);
  if (told.length > 0) return told;
  throw new WrongUseError(
    "nobody is told of alerts: set alerts.to with alerts.email, or alerts.https, or the same of a company; docs/alerts.md shows it",
  );
}

async function sendTest(store: AdminStore, config: Config, { id, code }: TestAudience): Promise<number> {
  const receivers = alertReceiversOf(config, code);
  const { zone = config.alerts.zone } = audienceSettingsOf(config, code) ?? {};
  const now = systemClock.now();
  const machine = hostname();
  const { installation = machine } = config.alerts;
  const notice = writeTestNotice({ now, zone, installation, machine });
  const sent = await store.write(id, (tx) => sendNotice(tx, { id, receivers, notice, now, isTest: true }));
  if ((await listNoticeDeliveries(store.read, sent)).length === receivers.length) return sent;
  throw new WrongUseError(
    "the daemon does not have this configuration of alerts yet: reload it (`systemctl reload dropgate`), then test again",
  );
}

const pollMs = 200;

/** Delivered, or failed once: what comes later is seen by `dropgate deliveries`. */
function isTried({ state, attempts }: NoticeDelivery): boolean {
  return (state !== "waiting" && state !== "behind") || attempts > 0;
}

interface SentTest extends TestAudience {
  readonly notice: number;
}

/** When all have been tried, or at that time (`performance.now()`). */
async function outcomesOf(
  store: AdminStore,
  sent: readonly SentTest[],
  until: number,
): Promise<readonly TestOutcome[]> {
  for (;;) {
    const outcomes: TestOutcome[] = [];
    let areTried = true;
    for (const { code, notice } of sent) {
      for (const delivery of await listNoticeDeliveries(store.read, notice)) {
        const { id, address, state, fault, faultText } = delivery;
        const company = code === operatorCode ? null : code;
        outcomes.push({ company, receiver: address, delivery: id, state, fault, message: faultText });
        areTried &&= isTried(delivery);
      }
    }
    if (areTried || performance.now() >= until) return outcomes;
    await wait(pollMs);
  }
}

/** Sends a test to everybody who is told of alerts, through the queue of the daemon, and waits for the first attempts. */
export async function testAlerts(
  config: Config,
  { company, waitMs }: { readonly company?: string; readonly waitMs: number },
): Promise<readonly TestOutcome[]> {
  return await withAdminStore(config, async (store) => {
    if (!areRunning(await findRunningDaemons(config, store)))
      throw new WrongUseError(
        "the daemon does not run, and alerts go through its queue: start it, then test again",
      );
    const sent: SentTest[] = [];
    for (const audience of await audiencesToTest(store, config, company))
      sent.push({ ...audience, notice: await sendTest(store, config, audience) });
    return await outcomesOf(store, sent, performance.now() + waitMs);
  });
}
