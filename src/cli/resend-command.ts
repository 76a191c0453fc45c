import type { Command } from "commander";
import type { Config } from "../config/schema.ts";
import type { ResendOptions as Selection } from "../app/admin/resend-admin.ts";
import { WrongUseError } from "../app/admin/wrong-use-error.ts";
import { given } from "../lib/given.ts";
import {
  type CliRun,
  counted,
  declare,
  exitCodes,
  printError,
  printLines,
  requireConfig,
} from "./command-line.ts";
import { momentText, readMoment } from "./moment.ts";
import { isConfirmed, numbersText, printRepeats, readNumbers, whenText } from "./repeats.ts";

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
  return hasFilter ? given({ stopNbr: stop, since, target, companyCode: company }) : undefined;
}

function resentText(ids: readonly number[]): string {
  return `${counted(ids.length, "delivery", "deliveries")} (${numbersText(ids)})`;
}

async function resendSelected(
  run: CliRun,
  config: Config,
  { selection, options }: { readonly selection: Selection; readonly options: Options },
): Promise<void> {
  const { planResend, resendDeliveries } = await import("../app/admin/resend-admin.ts");
  const { ids, remarks } = await planResend(config, selection);
  for (const remark of remarks) printError(run, `dropgate: ${remark}`);
  if (ids.length === 0) {
    run.exitCode = exitCodes.failure;
    return;
  }
  const wouldBe = `${resentText(ids)} would be sent again`;
  if (options.dryRun) return printLines(run, [`${wouldBe}.`]);
  if (!isConfirmed(run, options, wouldBe, `send ${ids.length === 1 ? "it" : "them"}`)) return;
  const report = await resendDeliveries(config, ids);
  const queued = report.repeats.filter(({ isQueued }) => isQueued).map(({ id }) => id);
  const refused = report.repeats.filter(({ isQueued }) => !isQueued);
  if (queued.length > 0) {
    const verb = queued.length === 1 ? "is" : "are";
    printLines(run, [`${resentText(queued)} ${verb} to be sent again.`, whenText(report.daemonPid)]);
  }
  // Something changed between the selection and the request: then each result is printed.
  printRepeats(run, { repeats: refused, daemonPid: report.daemonPid }, words);
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
    .action(async (named: readonly number[] | undefined, options: Options, command: Command) => {
      const ids = named ?? [];
      const selection = selectionOf(ids, options);
      const config = await requireConfig(run, command);
      if (selection !== undefined) return await resendSelected(run, config, { selection, options });
      const { resendDeliveries } = await import("../app/admin/resend-admin.ts");
      const { dryRun: isDryRun = false } = options;
      printRepeats(run, await resendDeliveries(config, ids, { isDryRun }), isDryRun ? dryWords : words);
    });
}
