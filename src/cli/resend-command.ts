import type { Command } from "commander";
import type { Config } from "../config/schema.ts";
import type { ResendOptions as Selection } from "../app/admin/resend-admin.ts";
import { WrongUseError } from "../app/admin/wrong-use-error.ts";
import { type CliRun, declare, exitCodes, printError, printLines, requireConfig } from "./command-line.ts";
import { momentText, readMoment } from "./moment.ts";
import { numbersText, printRepeats, readNumbers, whenText } from "./repeats.ts";

interface Options {
  readonly stop?: string;
  readonly since?: number;
  readonly target?: string;
  readonly company?: string;
  readonly dryRun?: true;
  readonly yes?: true;
}

const words = { done: "is to be sent again", refused: "is not sent again" } as const;
const dryWords = { done: "would be sent again", refused: "would not be sent again", isDry: true } as const;

/** Undefined when numbers are given instead. */
function selectionOf(ids: readonly number[], options: Options): Selection | undefined {
  const { stop, since, target, company } = options;
  const hasFilter = stop !== undefined || since !== undefined || target !== undefined;
  if (hasFilter === ids.length > 0 || (company !== undefined && !hasFilter)) {
    throw new WrongUseError(
      "name the numbers of deliveries, or choose them by --stop, --since or --target (and --company), but not both",
    );
  }
  if (!hasFilter) return undefined;
  return {
    ...(stop === undefined ? {} : { stopNbr: stop }),
    ...(since === undefined ? {} : { since }),
    ...(target === undefined ? {} : { target }),
    ...(company === undefined ? {} : { companyCode: company }),
  };
}

function countText(count: number): string {
  return count === 1 ? "1 delivery" : `${count} deliveries`;
}

async function resendSelected(
  run: CliRun,
  config: Config,
  { selection, dryRun, yes }: { readonly selection: Selection } & Pick<Options, "dryRun" | "yes">,
): Promise<void> {
  const { planResend, resendDeliveries } = await import("../app/admin/resend-admin.ts");
  const { ids, remarks } = await planResend(config, selection);
  for (const remark of remarks) printError(run, `dropgate: ${remark}`);
  if (ids.length === 0) {
    run.exitCode = exitCodes.failure;
    return;
  }
  const what = `${countText(ids.length)} (${numbersText(ids)})`;
  if (dryRun) return printLines(run, [`${what} would be sent again.`]);
  if (!yes) {
    printError(
      run,
      `dropgate: ${what} would be sent again: add --yes to send ${ids.length === 1 ? "it" : "them"}`,
    );
    run.exitCode = exitCodes.wrongUse;
    return;
  }
  const report = await resendDeliveries(config, ids);
  const queued = report.repeats.filter(({ isQueued }) => isQueued).map(({ id }) => id);
  const refused = report.repeats.filter(({ isQueued }) => !isQueued);
  if (queued.length > 0) {
    const verb = queued.length === 1 ? "is" : "are";
    printLines(run, [
      `${countText(queued.length)} (${numbersText(queued)}) ${verb} to be sent again.`,
      whenText(report.daemonPid),
    ]);
  }
  // Something changed between the selection and the request: then each result is printed.
  printRepeats(run, { repeats: refused, daemonPid: report.daemonPid }, words);
}

async function resendNumbers(
  run: CliRun,
  config: Config,
  { ids, dryRun }: { readonly ids: readonly number[] } & Pick<Options, "dryRun">,
): Promise<void> {
  const { resendDeliveries } = await import("../app/admin/resend-admin.ts");
  if (dryRun) printRepeats(run, await resendDeliveries(config, ids, { isDryRun: true }), dryWords);
  else printRepeats(run, await resendDeliveries(config, ids), words);
}

/** `dropgate delivery resend` */
export function declareResend(delivery: Command, run: CliRun): void {
  declare(delivery, "resend", "send delivered files again, under the same ids with the same bytes")
    .argument("[id...]", "numbers of deliveries", readNumbers)
    .option("--stop <number>", "completion files of a stop")
    .option("--since <moment>", `completion files delivered since ${momentText}`, (text: string) =>
      readMoment(text),
    )
    .option("--target <name>", "completion files delivered to a target")
    .option("--company <code>", "only those of a company")
    .option("--dry-run", "print how many would be sent, and send nothing")
    .option("--yes", "send all files that --stop, --since and --target select")
    .addHelpText(
      "after",
      "\nFiles that --stop, --since and --target select are sent only with --yes; without it the command prints how many they are.\nThe files of a stop are sent in their order. Exit code 1 when a named file is not sent, or none is selected.",
    )
    .action(async (given: readonly number[] | undefined, options: Options, command: Command) => {
      const ids = given ?? [];
      const selection = selectionOf(ids, options);
      const config = await requireConfig(run, command);
      const { dryRun, yes } = options;
      const how = { ...(dryRun ? { dryRun } : {}), ...(yes ? { yes } : {}) };
      if (selection === undefined) await resendNumbers(run, config, { ids, ...how });
      else await resendSelected(run, config, { selection, ...how });
    });
}
