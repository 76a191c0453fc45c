import type { Finding } from "../../../domain/alerts/incident.ts";
import type { HeldFiles } from "../../../inbound/lanes/held-files.ts";
import type { Detector } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";
import { lasting } from "./finding-text.ts";
import { minuteMs } from "../../../lib/durations.ts";

const samples = 5;

function samplesOf(held: HeldFiles | undefined): readonly string[] {
  if (held === undefined) return [];
  const halt = held.halt === undefined ? [] : [`all files of the company: ${held.halt.message}`];
  return [...halt, ...held.first.map(({ name, message }) => `${name}: ${message}`)].slice(0, samples);
}

/** The oldest waiting file of a company waits longer than it may. */
export const detectFilesWaiting: Detector<"filesWaiting"> = async ({ subject, settings, now, sources }) => {
  const { waiting } = sources.pipeline.statistics();
  const own = waiting.find(({ companyId }) => companyId === subject.id);
  if (own === undefined || own.count === 0 || own.oldestAgeMs < settings.afterMinutes * minuteMs) return [];
  const held = sources.pipeline.held().find(({ company }) => company === subject.code);
  const finding: Finding = {
    cause: "",
    summary: `${counted(own.count, "file waits", "files wait")}, the oldest for ${lasting(own.oldestAgeMs)}`,
    count: own.count,
    since: now - own.oldestAgeMs,
    samples: samplesOf(held),
    remedy:
      `\`dropgate files --company ${subject.code} --state waiting\` lists them, \`dropgate explain NAME\` says what one ` +
      "waits for, and `/readyz` and the log name the fault",
  };
  return [finding];
};
