import type { IncidentView, TestOutcome } from "../../app/admin/alert-admin.ts";
import { type CliCommand, type CommonOptions, exitCodes, wholeNumber } from "../command-line.ts";
import type { PageOptions } from "../filters.ts";
import { readNumber } from "../repeats.ts";
import { counted } from "../../lib/counted.ts";
import { tableLines } from "../table.ts";

interface ListOptions extends PageOptions {
  readonly all?: true;
}

const head = ["ID", "COMPANY", "WHAT", "SINCE", "LAST SEEN", "CLOSED", "COUNT"];

function incidentRow(incident: IncidentView): (string | number)[] {
  const { id, company, title, since, lastSeen, closedAt, count } = incident;
  return [id, company ?? "-", title, since, lastSeen, closedAt ?? "-", count];
}

/** What is wrong in words, with examples, and what to do. */
function detailLines(incident: IncidentView): readonly string[] {
  const { id, company, summary, samples, remedy } = incident;
  return [
    "",
    `${id}: ${company === null ? "" : `company ${company}: `}${summary}.`,
    ...samples.map((sample) => `  - ${sample}`),
    `  What to do: ${remedy}.`,
  ];
}

function listLines(incidents: readonly IncidentView[], { all }: ListOptions): readonly string[] {
  if (incidents.length === 0) return [all ? "There is no such incident." : "There is no open incident."];
  const open = incidents.filter(({ closedAt }) => closedAt === null);
  return [...tableLines(head, incidents.map(incidentRow)), ...open.flatMap(detailLines)];
}

/** `dropgate alerts` */
export function declareAlerts(program: CliCommand): void {
  program
    .declare("alerts", "list open incidents: what is wrong, since when, and what to do about it")
    .withJson()
    .option("--all", "closed ones too, the newest first")
    .option("--company <code>", "incidents of a company")
    .option("--limit <count>", "how many closed ones at most", wholeNumber(1, 100_000), 50)
    .option("--before <id>", "closed ones before that number: the next page", readNumber)
    .option("--count", "print only how many they are")
    .onConfig(async (run, config, options: ListOptions) => {
      const { countIncidents, listIncidents } = await import("../../app/admin/alert-admin.ts");
      if (options.count) return run.printCount(options, await countIncidents(config, options));
      run.printLongList(options, await listIncidents(config, options, options), (incidents) =>
        listLines(incidents, options),
      );
    });
}

function outcomeRow({ company, receiver, delivery, state, message }: TestOutcome): (string | number)[] {
  return [company ?? "-", receiver, delivery, state, message ?? "-"];
}

function testLines(outcomes: readonly TestOutcome[]): readonly string[] {
  const failed = outcomes.filter(({ state }) => state !== "delivered").length;
  const rows = tableLines(["COMPANY", "RECEIVER", "DELIVERY", "STATE", "FAULT"], outcomes.map(outcomeRow));
  if (failed === 0) return [...rows, "", "All of them were taken; see whether they arrive."];
  const which = `${counted(failed, "receiver has", "receivers have")} not taken it`;
  return [...rows, "", `${which}: \`dropgate delivery show ID\` says what became of a delivery.`];
}

const testWaitMs = 30_000;

/** `dropgate alert test` */
export function declareAlert(program: CliCommand): void {
  program
    .declare("alert", "try how alerts are told")
    .declare("test", "send a test to everybody who is told of alerts, and say what became of it")
    .withJson()
    .option("--company <code>", "only to those of a company")
    .onConfig(async (run, config, { company, ...options }: CommonOptions) => {
      const { testAlerts } = await import("../../app/admin/alert-admin.ts");
      const selection = company === undefined ? {} : { company };
      const outcomes = await testAlerts(config, { ...selection, waitMs: testWaitMs });
      run.printResult(options, outcomes, testLines);
      if (outcomes.some(({ state }) => state !== "delivered")) run.exitCode = exitCodes.failure;
    });
}
