/** `dropgate delivery retry`: deliveries by their numbers, all of a target, or all that options select. */
import type { TargetRetry } from "../../app/admin/delivery-retry.ts";
import type { DeliveryView } from "../../app/admin/delivery-view.ts";
import type { Config } from "../../config/schema.ts";
import { WrongUseError } from "../../app/admin/wrong-use-error.ts";
import type { CliCommand, CliRun, LongListOptions } from "../command-line.ts";
import { counted } from "../../lib/counted.ts";
import { deliveryTable } from "../delivery-table.ts";
import {
  type DeliveryFilterOptions,
  deliveryFilterOf,
  withDeliveryFilter,
  withDeliveryState,
} from "../filters.ts";
import { printRepeats, readNumbers, whenText } from "../repeats.ts";
import { runSelection, type SelectionOptions, type SelectionWords, withSelection } from "../selections.ts";

interface Options extends DeliveryFilterOptions, SelectionOptions, LongListOptions {
  readonly all?: true;
}

function targetLine(target: string, { queued, wasPaused, hastened, ...daemons }: TargetRetry): string {
  const count = (number: number) => counted(number, "delivery", "deliveries");
  const isNothing = queued === 0 && hastened === 0 && !wasPaused;
  if (isNothing) return `Nothing to ${target} is dead, and nothing waits for its next attempt.`;
  const parts = [
    queued > 0 ? `${count(queued)} to ${target} to be tried again` : `Nothing to ${target} is dead`,
    ...(wasPaused ? ["its pause has ended, and what waits is to be tried"] : []),
    ...(hastened > 0
      ? [`${count(hastened)} waited for the next attempt and ${hastened === 1 ? "gets" : "get"} it now`]
      : []),
  ];
  return `${parts.join("; ")}. ${whenText(daemons)}`;
}

type Way = { readonly target: string } | "numbers" | "filter";

/** Which of the three ways the arguments are. A company alone is too much. */
function requireOneWay(ids: readonly number[], options: Options): Way {
  const { company: _, target, ...filter } = deliveryFilterOf(options);
  const hasFilter = Object.keys(filter).length > 0;
  const isAlone = ids.length === 0;
  if (options.all === true && options.dryRun === true) {
    throw new WrongUseError(
      "--all cannot be tried with --dry-run: `dropgate delivery retry --target NAME --dry-run` lists the dead ones of a target",
    );
  }
  if (options.all === true && target !== undefined && isAlone && !hasFilter) return { target };
  if (options.all === undefined && isAlone && (hasFilter || target !== undefined)) return "filter";
  if (options.all === undefined && !isAlone && Object.keys(deliveryFilterOf(options)).length === 0)
    return "numbers";
  throw new WrongUseError(
    "name the numbers of deliveries, or --all with --target (and --company) for all dead ones of a target, or choose them by options such as --fault refused --since 24h",
  );
}

const words = { done: "is to be tried again", refused: "is not tried again" } as const;
const dryWords = { done: "would be tried again", refused: "would not be tried again", isDry: true } as const;

const selectionWords: SelectionWords<DeliveryView> = {
  noun: ["delivery", "deliveries"],
  done: "tried again",
  action: "try",
  about: ({ name, target, createdAt }) => `${name} to ${target}, made ${createdAt}`,
  table: deliveryTable,
};

async function retryNumbers(run: CliRun, config: Config, ids: readonly number[], options: Options) {
  const { retryDeliveries, tryRetries } = await import("../../app/admin/delivery-retry.ts");
  if (options.dryRun) printRepeats(run, options, await tryRetries(config, ids), dryWords);
  else printRepeats(run, options, await retryDeliveries(config, ids), words);
}

async function retrySelected(run: CliRun, config: Config, options: Options): Promise<void> {
  const { retrySelectedDeliveries } = await import("../../app/admin/delivery-retry.ts");
  const { limit } = options;
  const filter = deliveryFilterOf(options);
  const report = await runSelection(run, options, selectionWords, (mode) =>
    retrySelectedDeliveries(config, filter, { ...mode, limit }),
  );
  if (report?.ids.length !== 0) return;
  const others =
    filter.state === undefined ? ": dead ones are chosen unless --state says waiting or dropped" : "";
  run.printFailure(`no delivery of that kind can be tried again${others}`);
}

const retriedStates = ["dead", "waiting", "dropped"];

/** Adds `dropgate delivery retry`. */
export function declareDeliveryRetry(delivery: CliCommand): void {
  const retry = delivery
    .declare("retry", "retry deliveries that are dead or given up, and attempt waiting ones at once")
    .withJson();
  const stateText = "dead unless you say waiting, or dropped for those that were given up";
  const filtered = withDeliveryState(withDeliveryFilter(retry, "deliveries made"), stateText, retriedStates);
  withSelection(filtered, "retry")
    .option("--all", "all dead ones of a target, and what waits for its next attempt there")
    .withLimit()
    .argument("[id...]", "numbers of deliveries", readNumbers)
    .addHelpText(
      "after",
      "\nDeliveries that options select are retried with --yes, or when you say so at the terminal;\n--all with --target asks nobody. Exit code 1 when one that was named is not tried again, or none is\nselected.",
    )
    .action(async (named: readonly number[] | undefined, options: Options, command: CliCommand) => {
      const { run } = command;
      const ids = named ?? [];
      const way = requireOneWay(ids, options);
      const config = await command.requireConfig();
      if (way === "numbers") return await retryNumbers(run, config, ids, options);
      if (way === "filter") return await retrySelected(run, config, options);
      const { retryTarget } = await import("../../app/admin/delivery-retry.ts");
      const { target } = way;
      const done = await retryTarget(config, { ...options, target });
      run.printResult(options, done, () => [targetLine(target, done)]);
    });
}
