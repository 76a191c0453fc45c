import type { Config } from "../../config/schema.ts";
import type { ResendOptions } from "../../app/admin/resend-admin.ts";
import { WrongUseError } from "../../app/admin/wrong-use-error.ts";
import { type CliCommand, type CliRun, counted, exitCodes } from "../command-line.ts";
import { momentText, readMoment } from "../moment.ts";
import {
  isConfirmed,
  numbersText,
  printRepeats,
  readNumbers,
  type SelectionOptions,
  whenText,
} from "../repeats.ts";

type Options = ResendOptions & SelectionOptions;

const words = { done: "is to be sent again", refused: "is not sent again" } as const;
const dryWords = { done: "would be sent again", refused: "would not be sent again", isDry: true } as const;

/** Whether options choose the deliveries, and no numbers. */
function isSelection(ids: readonly number[], { stop, since, target, company }: Options): boolean {
  const hasFilter = stop !== undefined || since !== undefined || target !== undefined;
  if (hasFilter === ids.length > 0 || (company !== undefined && !hasFilter)) {
    throw new WrongUseError(
      "name the numbers of deliveries, or choose them by --stop, --since or --target (and --company), but not both",
    );
  }
  return hasFilter;
}

function resentText(ids: readonly number[]): string {
  return `${counted(ids.length, "delivery", "deliveries")} (${numbersText(ids)})`;
}

async function resendSelected(run: CliRun, config: Config, options: Options): Promise<void> {
  const { planResend, resendDeliveries } = await import("../../app/admin/resend-admin.ts");
  const { ids, remarks } = await planResend(config, options);
  for (const remark of remarks) run.printError(`dropgate: ${remark}`);
  if (ids.length === 0) {
    run.exitCode = exitCodes.failure;
    return;
  }
  const wouldBe = `${resentText(ids)} would be sent again`;
  if (!isConfirmed(run, options, wouldBe, `send ${ids.length === 1 ? "it" : "them"}`)) return;
  const report = await resendDeliveries(config, ids);
  const queued = report.repeats.filter(({ isQueued }) => isQueued).map(({ id }) => id);
  const refused = report.repeats.filter(({ isQueued }) => !isQueued);
  if (queued.length > 0) {
    const verb = queued.length === 1 ? "is" : "are";
    run.printLines([`${resentText(queued)} ${verb} to be sent again.`, whenText(report.daemonPid)]);
  }
  // Something changed between the selection and the request: then each result is printed.
  printRepeats(run, { repeats: refused, daemonPid: report.daemonPid }, words);
}

/** `dropgate delivery resend` */
export function declareResend(delivery: CliCommand): void {
  delivery
    .declare("resend", "send delivered files again, under the same ids with the same bytes")
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
    .action(async (named: readonly number[] | undefined, options: Options, command: CliCommand) => {
      const { run } = command;
      const ids = named ?? [];
      const isSelected = isSelection(ids, options);
      const config = await command.requireConfig();
      if (isSelected) return await resendSelected(run, config, options);
      const { resendDeliveries } = await import("../../app/admin/resend-admin.ts");
      const { dryRun: isDryRun = false } = options;
      printRepeats(run, await resendDeliveries(config, ids, { isDryRun }), isDryRun ? dryWords : words);
    });
}
