import type { DeliveryView } from "../../app/admin/delivery-view.ts";
import type { Config } from "../../config/schema.ts";
import { WrongUseError } from "../../app/admin/wrong-use-error.ts";
import type { CliCommand, CliRun, LongListOptions } from "../command-line.ts";
import { counted } from "../../lib/counted.ts";
import { deliveryTable } from "../delivery-table.ts";
import {
  type DeliveryFilterOptions,
  deliveryFilterOf,
  typedFilterOf,
  withDeliveryFilter,
} from "../filters.ts";
import { printRepeats, readNumbers } from "../repeats.ts";
import { runSelection, type SelectionOptions, type SelectionWords, withSelection } from "../selections.ts";

interface Options extends DeliveryFilterOptions, SelectionOptions, LongListOptions {
  readonly anew?: true;
}

const words = { done: "is to be sent again", refused: "is not sent again" } as const;
const dryWords = { done: "would be sent again", refused: "would not be sent again", isDry: true } as const;

const selectionWords: SelectionWords<DeliveryView> = {
  noun: ["delivery", "deliveries"],
  done: "sent again",
  action: "send",
  about: ({ name, target, deliveredAt }) => `${name} to ${target}, delivered ${deliveredAt ?? "?"}`,
  table: deliveryTable,
};

/** Whether options choose the deliveries, and no numbers. A company alone is too much. */
function isSelection(ids: readonly number[], options: Options): boolean {
  const { company, ...filter } = deliveryFilterOf(options);
  const hasFilter = Object.keys(filter).length > 0;
  if (hasFilter === ids.length > 0 || (company !== undefined && !hasFilter)) {
    throw new WrongUseError(
      "name the numbers of deliveries, or choose them by options such as --stop, --since or --target (and --company), but not both",
    );
  }
  return hasFilter;
}

async function resendSelected(run: CliRun, config: Config, options: Options): Promise<void> {
  const admin = await import("../../app/admin/resend-admin.ts");
  const { limit } = options;
  const filter = deliveryFilterOf(options);
  const request = {
    filter,
    typed: typedFilterOf(options),
    isAnew: options.anew === true,
    limit,
    now: Date.now(),
  };
  const report = await runSelection(run, options, selectionWords, async (mode) => {
    const { remarks, ...found } = await admin.resendSelected(config, request, mode);
    const isFirst = mode.isDryRun || options.yes === true;
    if (isFirst) for (const remark of remarks) run.printError(`dropgate: ${remark}`);
    if (isFirst && found.goesOn !== null)
      run.printError(
        `dropgate: the same command of ${found.goesOn.begunAt} was cut off after ${counted(found.goesOn.queued, "delivery", "deliveries")}: this is the rest; --anew sends all`,
      );
    return found;
  });
  if (report?.ids.length === 0 && report.goesOn === null) run.printFailure("nothing is sent again");
}

/** `dropgate delivery resend` */
export function declareResend(delivery: CliCommand): void {
  const resend = delivery.declare(
    "resend",
    "send delivered files again, under the same ids with the same bytes",
  );
  withSelection(withDeliveryFilter(resend.withJson(), "completion files delivered"), "send")
    .option("--anew", "begin anew, when the same command was cut off within a day, instead of going on")
    .withLimit()
    .argument("[id...]", "numbers of deliveries", readNumbers)
    .addHelpText(
      "after",
      "\nCompletion files that options select are sent with --yes, or when you say so at the terminal. The files of a stop\nare sent in their order. A command that was cut off goes on when it is repeated with the same options: nothing is\nsent twice. Exit code 1 when a named file is not sent, or none is selected.",
    )
    .action(async (named: readonly number[] | undefined, options: Options, command: CliCommand) => {
      const { run } = command;
      const ids = named ?? [];
      const isSelected = isSelection(ids, options);
      const config = await command.requireConfig();
      if (isSelected) return await resendSelected(run, config, options);
      const { resendDeliveries } = await import("../../app/admin/resend-admin.ts");
      const { dryRun: isDryRun = false } = options;
      const report = await resendDeliveries(config, ids, { isDryRun });
      printRepeats(run, options, report, isDryRun ? dryWords : words);
    });
}
