/** What is printed when a simulation has ended. */
import type { Refusal } from "./day-tally.ts";
import type { DayReport } from "./play-day.ts";

const shownDifferences = 20;

function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function counts(by: Readonly<Record<string, number>>): string {
  return Object.entries(by)
    .map(([name, count]) => `${name}: ${whole(count)}`)
    .join(" · ");
}

function verifiedLines({ differences, loads }: DayReport): string[] {
  if (differences === undefined) return ["Verified   nothing"];
  if (differences.length === 0) return [`Verified   ${whole(loads.completed)} loads: all as planned`];
  const rest = differences.length - shownDifferences;
  return [
    `Verified   ${whole(differences.length)} differences:`,
    ...differences.slice(0, shownDifferences).map((line) => `  ${line}`),
    ...(rest > 0 ? [`  and ${whole(rest)} more`] : []),
  ];
}

function refusalLines({ kind, sender, path, request, status, answer }: Refusal): string[] {
  const who = sender === undefined ? "" : ` as ${sender}`;
  return [
    `  ${kind}: ${path}${who}`,
    ...(request === "" ? [] : [`    sent      ${request}`]),
    `    answered  ${status === 0 ? "" : `${status} `}${answer}`,
  ];
}

function refusedLines({ refusalCount, refusals }: DayReport): string[] {
  if (refusalCount === 0) return [];
  const which = refusals.length < refusalCount ? `; the first ${refusals.length}` : "";
  return [`Not answered as planned: ${whole(refusalCount)}${which}:`, ...refusals.flatMap(refusalLines)];
}

/** The lines for people. */
export function summaryLines(report: DayReport): readonly string[] {
  const { loads, stops, requests, tookMs, latencyMs, waits, retries, repeats } = report;
  const milliseconds = (value: number) => `${value.toFixed(1)} ms`;
  const { median, p99, greatest } = latencyMs;
  return [
    ...(report.isInterrupted ? ["Interrupted; up to then:"] : []),
    `Played     ${whole(loads.completed)} of ${whole(loads.planned)} loads in ${(tookMs / 1_000).toFixed(1)} s: ${whole(stops.completed)} stops completed, ${whole(stops.closed)} closed`,
    `Requests   ${whole(requests)} (${whole(report.requestsPerSecond)}/s), ${whole(repeats)} of them repeated · ${counts(report.requestsByKind)}`,
    `Answers    ${counts(report.answers)}`,
    `Latency    median ${milliseconds(median)}, 99 of 100 within ${milliseconds(p99)}, greatest ${milliseconds(greatest)}`,
    ...(waits + retries > 0
      ? [`Patience   ${whole(waits)} answers 429 or 503 waited for, ${whole(retries)} requests sent again`]
      : []),
    ...verifiedLines(report),
    ...refusedLines(report),
  ];
}
