/** Opens, keeps and closes incidents by what detectors have found: one transaction for all of a scan. */
import type { AlertKindName } from "../../domain/alerts/alert-kinds.ts";
import { closesAfterMs, type Finding, type Incident, reopenWithinMs } from "../../domain/alerts/incident.ts";
import {
  findLastIncident,
  insertIncident,
  listOpenIncidents,
  saveIncident,
} from "../../store/alerts/incidents.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";

/** What the detector of a kind has found in a company, or, with `operatorId`, in the installation. */
export interface LookedAt {
  readonly companyId: number;
  readonly kind: AlertKindName;
  readonly findings: readonly Finding[];
}

export interface NotingContext {
  /** Milliseconds UTC. */
  readonly now: number;
  readonly closeAfterMs: number;
  /** Whether incidents of the kind are looked for there at all. What is not is closed at once. */
  readonly isWatched: (companyId: number, kind: AlertKindName) => boolean;
}

function keyOf({ companyId, kind }: Pick<LookedAt, "companyId" | "kind">, cause: string): string {
  return JSON.stringify([companyId, kind, cause]);
}

function foundIn({ companyId, kind }: LookedAt, finding: Finding, now: number) {
  const { cause, summary, count, samples, level = 1, remedy = "" } = finding;
  return { companyId, kind, cause, summary, count, samples, level, remedy, seenAt: now, closedAt: null };
}

/** What has become of an incident, for the log. */
export interface IncidentChange extends Pick<Incident, "companyId" | "kind" | "cause" | "summary"> {
  readonly change: "opened" | "reopened" | "closed";
}

function changeOf(
  { companyId, kind, cause, summary }: Omit<IncidentChange, "change">,
  change: IncidentChange["change"],
): IncidentChange {
  return { change, companyId, kind, cause, summary };
}

/** Opens an incident, or the one that was closed a short while ago again. */
async function open(
  tx: Transaction,
  looked: LookedAt,
  finding: Finding,
  now: number,
): Promise<IncidentChange> {
  const found = foundIn(looked, finding, now);
  const last = await findLastIncident(tx, found);
  if (last?.closedAt != null && now - last.closedAt < reopenWithinMs) {
    await saveIncident(tx, { ...last, ...found, reopened: last.reopened + 1 });
    return changeOf(found, "reopened");
  }
  const openedAt = Math.min(finding.since ?? now, now);
  await insertIncident(tx, { ...found, openedAt, reopened: 0 });
  return changeOf(found, "opened");
}

/** Whether an incident of which nothing was found is over. */
function isOver({ seenAt, reopened }: Incident, { now, closeAfterMs }: NotingContext): boolean {
  return now - seenAt >= closesAfterMs({ reopened }, closeAfterMs);
}

/**
 * Writes what the scan has found. A kind that is missing in `all` could not be looked at: its incidents stay as they are.
 */
export async function noteFindings(
  tx: Transaction,
  all: readonly LookedAt[],
  context: NotingContext,
): Promise<readonly IncidentChange[]> {
  const { now, isWatched } = context;
  const changes: IncidentChange[] = [];
  const incidents = await listOpenIncidents(tx);
  const known = new Map(incidents.map((incident) => [keyOf(incident, incident.cause), incident]));
  const found = new Set<string>();
  for (const looked of all) {
    for (const finding of looked.findings) {
      const key = keyOf(looked, finding.cause);
      found.add(key);
      const incident = known.get(key);
      if (incident === undefined) changes.push(await open(tx, looked, finding, now));
      else await saveIncident(tx, { ...incident, ...foundIn(looked, finding, now) });
    }
  }
  const lookedAt = new Set(all.map((looked) => keyOf(looked, "")));
  for (const incident of incidents) {
    if (found.has(keyOf(incident, incident.cause))) continue;
    const isLookedAt = lookedAt.has(keyOf(incident, ""));
    if (isWatched(incident.companyId, incident.kind) && !(isLookedAt && isOver(incident, context))) {
      // A clock that was ahead must not keep it open until it is as late as that.
      if (incident.seenAt > now) await saveIncident(tx, { ...incident, seenAt: now });
      continue;
    }
    await saveIncident(tx, { ...incident, closedAt: now });
    changes.push(changeOf(incident, "closed"));
  }
  return changes;
}
