/** Incidents of the targets of a company: deliveries that were given up, and targets that take nothing. */
import { alertWayOf } from "../../../domain/alerts/audience.ts";
import type { Finding } from "../../../domain/alerts/incident.ts";
import {
  listOldestOpen,
  listOutboundTargets,
  listSomeOfTarget,
  type OutboundTarget,
} from "../../../store/outbound/outbound-targets.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import type { Detector, Scan } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";
import { lasting, levelOfMany } from "./finding-text.ts";
import { minuteMs } from "../../../lib/durations.ts";

const samples = 5;

/** Those of alerts are left out: an alert that cannot be sent must not cause another one. */
async function targetsOf({ read, subject }: Scan): Promise<readonly OutboundTarget[]> {
  const targets = await listOutboundTargets(read);
  return targets.filter(({ companyId, name }) => companyId === subject.id && alertWayOf(name) === undefined);
}

async function sampleDeliveries(
  { read }: Scan,
  targetId: number,
  state: "dead" | "open",
): Promise<readonly string[]> {
  const found = await listSomeOfTarget(read, { targetId, state, limit: samples });
  return found.map(
    ({ id, name, faultText }) => `${name} (delivery ${id})${faultText ? `: ${faultText}` : ""}`,
  );
}

/** Deliveries to a target were given up. */
export const detectDeadLetters: Detector<"deadLetters"> = async (scan) => {
  const findings: Finding[] = [];
  for (const { id, name, dead, isConfigured } of await targetsOf(scan)) {
    if (!isConfigured || dead < scan.settings.count) continue;
    const these = `--company ${scan.subject.code} --target ${name}`;
    findings.push({
      cause: name,
      summary: `${counted(dead, "delivery", "deliveries")} to the target ${name} ${dead === 1 ? "was" : "were"} given up`,
      count: dead,
      level: levelOfMany(dead, scan.settings.count),
      samples: await sampleDeliveries(scan, id, "dead"),
      remedy:
        `\`dropgate deliveries ${these} --state dead\` lists them with their faults, \`dropgate delivery show ID\` shows ` +
        `one; mend the cause, then \`dropgate delivery retry --all ${these}\` sends them, or give them up for good by ` +
        `\`dropgate delivery give-up --all ${these} --reason TEXT\``,
    });
  }
  return findings;
};

/** Deliveries are left at a target that is not in the configuration any more. */
export const detectMissingTargets: Detector<"missingTarget"> = async (scan) => {
  const missing = (await targetsOf(scan)).filter((one) => !one.isConfigured && one.open + one.dead > 0);
  const findings: Finding[] = [];
  for (const { id, name, open, dead } of missing) {
    const waiting = counted(open, "delivery waits", "deliveries wait");
    const givenUp = `${dead} ${dead === 1 ? "was" : "were"} given up`;
    findings.push({
      cause: name,
      summary: `the target ${name} is not in the configuration: ${waiting} for it, and ${givenUp}`,
      count: open + dead,
      samples: await sampleDeliveries(scan, id, open > 0 ? "open" : "dead"),
      remedy:
        "put the target back into the configuration and reload; when nobody wants its deliveries any more, `dropgate " +
        `delivery give-up --all --company ${scan.subject.code} --target ${name} --reason TEXT --yes\` gives them up`,
    });
  }
  return findings;
};

function whyPaused({ pausedBy, pausedAt, failures }: OutboundTarget): string {
  return pausedBy === null
    ? `has failed ${counted(failures, "time")} in a row`
    : `is paused by ${pausedBy} since ${isoTime(pausedAt ?? 0)}`;
}

function remedyOf({ name, pausedBy }: OutboundTarget, code: string): string {
  if (pausedBy !== null)
    return (
      `\`dropgate target list --company ${code}\` shows why; \`dropgate target resume ${name} --company ${code}\` lets ` +
      "all go out that waits. Nothing is lost"
    );
  return (
    `\`dropgate deliveries --company ${code} --target ${name} --state waiting\` lists what waits, with ` +
    "the fault; `dropgate check --remote` tries the target. Nothing is lost: all goes out by itself when the target " +
    "takes it"
  );
}

/** A target has failed as a whole, or somebody has paused it, and its oldest delivery waits longer than it may. */
export const detectPausedTargets: Detector<"pausedTarget"> = async (scan) => {
  const { now, read, settings } = scan;
  const failing = (await targetsOf(scan)).filter(
    ({ isConfigured, failures, open, pausedBy }) =>
      isConfigured && (failures > 0 || pausedBy !== null) && open > 0,
  );
  if (failing.length === 0) return [];
  const oldest = await listOldestOpen(read);
  const findings: Finding[] = [];
  for (const target of failing) {
    const { id, name, open } = target;
    const since = oldest.get(id) ?? now;
    if (now - since < settings.afterMinutes * minuteMs) continue;
    const waiting = `${counted(open, "delivery waits", "deliveries wait")}, the oldest for ${lasting(now - since)}`;
    findings.push({
      cause: name,
      summary: `the target ${name} ${whyPaused(target)}: ${waiting}`,
      count: open,
      since,
      samples: await sampleDeliveries(scan, id, "open"),
      remedy: remedyOf(target, scan.subject.code),
    });
  }
  return findings;
};
