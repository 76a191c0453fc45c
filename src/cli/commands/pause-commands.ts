import type { PauseChoice, PauseOutcome, PauseReport } from "../../app/admin/pause-admin.ts";
import type { CliCommand, CommonOptions } from "../command-line.ts";
import { whenText } from "../repeats.ts";
import { readReason } from "./give-up-command.ts";

type Kind = PauseChoice["kind"];

interface PauseOptions extends CommonOptions {
  readonly reason: string;
}

const effects: Readonly<Record<Kind, { readonly paused: string; readonly resumed: string }>> = {
  target: { paused: "what is for it waits", resumed: "what waits for it goes out" },
  remote: { paused: "nothing is fetched from it", resumed: "it is polled by its schedule" },
};

function pausedText(kind: Kind, name: string, { company, before }: PauseOutcome): string {
  const what = `The ${kind} ${name} of ${company}`;
  if (before === null)
    return `${what} is paused: ${effects[kind].paused} until \`dropgate ${kind} resume ${name}\`.`;
  return `${what} was paused before, by ${before.pausedBy} at ${before.pausedAt}: ${before.reason}`;
}

function resumedText(kind: Kind, name: string, { company, before }: PauseOutcome): string {
  const what = `The ${kind} ${name} of ${company}`;
  if (before === null) return `${what} is not paused by hand.`;
  const { pausedBy, pausedAt } = before;
  return `${what} is resumed (paused by ${pausedBy} since ${pausedAt}): ${effects[kind].resumed}.`;
}

function declarePause(parent: CliCommand, kind: Kind): void {
  parent
    .declare("pause", `pause a ${kind} until somebody resumes it: ${effects[kind].paused}`)
    .withJson()
    .argument("<name>", `name of the ${kind} in the configuration`)
    .requiredOption(
      "--reason <text>",
      `the reason, which \`dropgate ${kind} list\` and \`check\` show`,
      readReason,
    )
    .option("--company <code>", "only that of a company")
    .onConfig(async (run, config, name: string, options: PauseOptions) => {
      const { pauseAll } = await import("../../app/admin/pause-admin.ts");
      const { currentOperator } = await import("../../app/admin/give-up-admin.ts");
      const wish = { by: currentOperator(run.io.env), reason: options.reason };
      const report = await pauseAll(config, { kind, name, ...options }, wish);
      run.printResult(options, report, ({ outcomes, ...daemons }: PauseReport) => [
        ...outcomes.map((outcome) => pausedText(kind, name, outcome)),
        whenText(daemons),
      ]);
    });
}

function declareResume(parent: CliCommand, kind: Kind): void {
  parent
    .declare("resume", `end the pause of a ${kind}: ${effects[kind].resumed}`)
    .withJson()
    .argument("<name>", `name of the ${kind} in the configuration`)
    .option("--company <code>", "only that of a company")
    .onConfig(async (run, config, name: string, options: CommonOptions) => {
      const { resumeAll } = await import("../../app/admin/pause-admin.ts");
      const report = await resumeAll(config, { kind, name, ...options });
      run.printResult(options, report, ({ outcomes, ...daemons }: PauseReport) => [
        ...outcomes.map((outcome) => resumedText(kind, name, outcome)),
        whenText(daemons),
      ]);
    });
}

/** `dropgate target pause|resume` and `dropgate remote pause|resume` */
export function declarePauseAndResume(parent: CliCommand, kind: Kind): void {
  declarePause(parent, kind);
  declareResume(parent, kind);
}
